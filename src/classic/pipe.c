/* SPDX-License-Identifier: MIT */
#include "classic/blkparse.h"
