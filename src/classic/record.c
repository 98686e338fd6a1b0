/* SPDX-License-Identifier: MIT */
#include "classic/record.h"
