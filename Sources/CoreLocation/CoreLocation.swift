@_exported public import CoreLocationSimulator
