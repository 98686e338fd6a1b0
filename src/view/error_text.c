// SPDX-License-Identifier: MIT
/* What failed, by name: at the head of the page, and again in each device's block. */
#include <stdlib.h>

#include "base/mem.h"
#include "view/num.h"
#include "view/tree.h"

char *error_words(const json_t *error)
{
	const char *name = tree_str(error, "name"), *class = tree_str(error, "class");
	char *where, *text;

	where = tree_at(error, "first_sector")
			? mem_printf(", first at sector %s",
				     num_count(tree_u64(error, "first_sector")).s)
			: mem_strdup("");
	text = mem_printf("%s failed: %s with %s (%u)%s",
			  num_of(tree_u64(error, "count"), "request").s, class,
			  name ? name : "errno", (unsigned int)tree_u64(error, "errno"), where);
	free(where);
	return text;
}

void page_errors(const struct page *page, const json_t *tree)
{
	const char *label = "errors:";
	json_t *dev, *error;
	size_t i, k;

	json_array_foreach((json_t *)tree_at(tree, "devices"), i, dev)
	{
		const char *name = tree_str(dev, "name"), *number = tree_str(dev, "device");

		json_array_foreach((json_t *)tree_at(dev, "errors"), k, error)
		{
			char *words = error_words(error);
			char *text = mem_printf("%s: %s", name ? name : number, words);

			page_para(page, PAINT_BAD, label, text);
			label = "";
			free(text);
			free(words);
		}
	}
}
