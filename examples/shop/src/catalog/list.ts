import { type TObject, Type } from '@sinclair/typebox'
import { listRules, type ListRules } from '../lists/list.ts'

/**
 * The rules of a list that is a tool, whose filters a model reads with every conversation. It has none for what nobody
 * looks for: the shop, which the path says, and the whole of a description or of a time.
 */
export function catalogList (record: TObject, rules: Parameters<typeof listRules>[1]): ListRules {
  const list = listRules(Type.Omit(record, ['shop_id']), rules)
  const { description: _, created_at: __, updated_at: ___, ...filters } = list.filters
  return { ...list, filters }
}
