// C functions that Swift cannot call directly, one header per subject.
#ifndef CSUPPORT_H
#define CSUPPORT_H

#include "clock_support.h"
#include "descriptor_support.h"
#include "http_support.h"
#include "json_support.h"
#include "post_support.h"

#endif
