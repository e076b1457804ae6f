/** The public contract: renaming one breaks every agent that uses it. */
export const toolNames = [
  'create_attribute',
  'create_category',
  'create_product',
  'create_tag',
  'delete_attribute',
  'delete_category',
  'delete_product',
  'delete_tag',
  'get_attribute',
  'get_category',
  'get_product',
  'get_tag',
  'list_attributes',
  'list_categories',
  'list_products',
  'list_tags',
  'update_attribute',
  'update_category',
  'update_product',
  'update_tag'
]

/** Those that `MCP_IMPORTS_ENABLED` adds. */
export const importTools = ['cancel_import', 'get_import', 'import_products']
