/* SPDX-License-Identifier: MIT */
#include "classic/comms.h"
