// epoll, eventfd and signalfd: Swift's Glibc module leaves these headers out, but their plain functions import well.
#ifndef DESCRIPTOR_SUPPORT_H
#define DESCRIPTOR_SUPPORT_H

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>

#endif
