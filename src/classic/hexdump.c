/* SPDX-License-Identifier: MIT */
#include "classic/hexdump.h"
