/* SPDX-License-Identifier: MIT */
#include "record/bpf_btf.h"

#include <bpf/btf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "trace/bpf_ops.h"

static const struct btf_type *resolve(const struct btf *btf, uint32_t id)
{
	const struct btf_type *type = btf__type_by_id(btf, id);

	while (type && (btf_is_mod(type) || btf_is_typedef(type)))
		type = btf__type_by_id(btf, type->type);
	return type;
}

static bool is_pointer_to(const struct btf *btf, const struct btf_type *type, const char *name)
{
	const struct btf_type *to = resolve(btf, type->type);
	const char *has = to && btf_is_struct(to) ? btf__name_by_offset(btf, to->name_off) : NULL;

	return has && !strcmp(has, name);
}

static bool is_arg(const struct btf *btf, uint32_t id, char letter)
{
	const struct btf_type *type = resolve(btf, id);
	bool is_number = type && (btf_is_int(type) || btf_is_any_enum(type));

	if (letter == 'n' || letter == 's')
		return is_number && (letter == 'n' || type->size == 1);
	if (!type || !btf_is_ptr(type))
		return false;
	switch (letter) {
	case 'b':
		return is_pointer_to(btf, type, "bio");
	case 'r':
		return is_pointer_to(btf, type, "request");
	case 'q':
		return is_pointer_to(btf, type, "request_queue");
	case 't':
		return is_pointer_to(btf, type, "task_struct");
	default:
		return true;
	}
}

bool kernel_has_tracepoint(const struct btf *btf, const char *name, const char *args)
{
	const struct btf_type *proto;
	char type_name[96];
	int id;

	snprintf(type_name, sizeof(type_name), "btf_trace_%s", name);
	id = btf__find_by_name_kind(btf, type_name, BTF_KIND_TYPEDEF);
	proto = id > 0 ? resolve(btf, (uint32_t)id) : NULL;
	proto = proto && btf_is_ptr(proto) ? resolve(btf, proto->type) : NULL;
	/* The first is the tracepoint's own. */
	if (!proto || !btf_is_func_proto(proto) || btf_vlen(proto) < strlen(args) + 1)
		return false;
	for (size_t i = 0; args[i]; i++)
		if (!is_arg(btf, btf_params(proto)[i + 1].type, args[i]))
			return false;
	return true;
}

json_t *kernel_enum(const struct btf *btf, const char *name, const char *prefix)
{
	int id = btf__find_by_name_kind(btf, name, BTF_KIND_ENUM);
	const struct btf_type *type = id > 0 ? btf__type_by_id(btf, (uint32_t)id) : NULL;
	size_t len = strlen(prefix);
	json_t *values;

	if (!type)
		return NULL;
	values = json_object();
	for (unsigned int i = 0; i < btf_vlen(type); i++) {
		const struct btf_enum *one = &btf_enum(type)[i];
		const char *own = btf__name_by_offset(btf, one->name_off);

		if (own && !strncmp(own, prefix, len))
			json_object_set_new(values, own + len, json_integer(one->val));
	}
	return values;
}

static uint32_t flag_mask(const json_t *flags, const char *name)
{
	const json_t *bit = json_object_get(flags, name);

	return bit && json_integer_value(bit) < 32 ? 1u << json_integer_value(bit) : 0;
}

/* Of a request that has to do with the flush machine: a macro before 6.11, then in an enum that had no name
 * at first. */
static uint32_t flush_seq_mask(const struct btf *btf)
{
	for (uint32_t id = 1; id < btf__type_cnt(btf); id++) {
		const struct btf_type *type = btf__type_by_id(btf, id);

		for (unsigned int i = 0; btf_is_enum(type) && i < btf_vlen(type); i++) {
			const char *name = btf__name_by_offset(btf, btf_enum(type)[i].name_off);

			if (name && !strcmp(name, "__RQF_FLUSH_SEQ"))
				return 1u << (btf_enum(type)[i].val & 31);
		}
	}
	return 1u << 4;
}

/* Macros, that BTF does not tell. Since the kernel plugs writes to zones itself (struct blk_zone_wplug), there
 * is no BLK_STS_ZONE_RESOURCE at 14, and what came behind it has moved. */
static void fill_errnos(const struct btf *btf, int16_t errno_of[BPF_STATUS_MAX])
{
	static const int16_t usual[] = {
		0,        -EOPNOTSUPP, -ETIMEDOUT, -ENOSPC, -ENOLINK, -EREMOTEIO, -EBADE,
		-ENODATA, -EILSEQ,     -ENOMEM,    -EIO,    -EREMCHG, -EAGAIN,    -EBUSY,
	};
	static const int16_t behind[] = { -ETOOMANYREFS, -EOVERFLOW, -ENODEV, -ETIME };
	size_t at = sizeof(usual) / sizeof(usual[0]);

	for (size_t i = 1; i < BPF_STATUS_MAX; i++)
		errno_of[i] = -EIO;
	memcpy(errno_of, usual, sizeof(usual));
	if (btf__find_by_name_kind(btf, "blk_zone_wplug", BTF_KIND_STRUCT) < 0)
		at++;
	else
		errno_of[19] = -EINVAL;
	memcpy(&errno_of[at], behind, sizeof(behind));
}

void kernel_fill_config(const struct btf *btf, const json_t *ops, const json_t *flags,
			struct bpf_config *config)
{
	const char *name;
	json_t *value;

	memset(config->op_class, CLASS_OTHER, sizeof(config->op_class));
	json_object_foreach((json_t *)ops, name, value)
	{
		if (json_integer_value(value) >= 0 && json_integer_value(value) < BPF_OPS_MAX)
			config->op_class[json_integer_value(value)] = (uint8_t)bpf_op_class(name);
	}
	config->preflush = flag_mask(flags, "PREFLUSH");
	config->fua = flag_mask(flags, "FUA");
	config->flush_seq = flush_seq_mask(btf);
	fill_errnos(btf, config->errno_of);
}
