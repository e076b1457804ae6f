import type { Category as CategorySchema } from '../../../shop/src/catalog/category-schemas.ts'
import { groupBy } from '../group-by.ts'

/** A category as the server has it. */
export type Category = Omit<typeof CategorySchema['static'], 'shop_id' | 'created_at'>

/** A category with those below it. */
export interface Branch extends Category {
  readonly children: readonly Branch[]
}

/**
 * The tree of categories, in the order of their positions, then names. A category whose parent is missing stands at the
 * top.
 */
export function treeFrom (categories: readonly Category[]): readonly Branch[] {
  const ids = new Set(categories.map(({ id }) => id))
  const below = groupBy(categories, ({ parent_id: parent }) => parent !== null && ids.has(parent) ? parent : null)
  const branches = (parent: string | null): readonly Branch[] =>
    [...below.get(parent) ?? []].sort(bySiblingOrder).map((category) => ({
      ...category,
      children: branches(category.id)
    }))
  return branches(null)
}

function bySiblingOrder (one: Category, other: Category): number {
  return one.position - other.position || one.name.localeCompare(other.name) || one.id.localeCompare(other.id)
}

/** Each category with its path from the top, `Kitchen › Kettles`, in the order of the tree. */
export function pathsOf (
  categories: readonly Category[]
): ReadonlyArray<{ readonly id: string, readonly path: string, readonly depth: number }> {
  const walk = (
    branches: readonly Branch[],
    above: string,
    depth: number
  ): Array<{ id: string, path: string, depth: number }> =>
    branches.flatMap((
      { id, name, children }
    ) => [{ id, path: above + name, depth }, ...walk(children, `${above}${name} › `, depth + 1)])
  return walk(treeFrom(categories), '', 0)
}

/** The category itself and all below it: where it cannot be moved to. */
export function familyOf (categories: readonly Category[], id: string): ReadonlySet<string> {
  const family = new Set([id])
  for (let size = 0; size < family.size;) {
    size = family.size
    for (const { id, parent_id: parent } of categories) if (parent !== null && family.has(parent)) family.add(id)
  }
  return family
}

/** A change of a category for the server. */
export interface Move {
  readonly id: string
  readonly changes: { readonly parent_id?: string | null, readonly position?: number }
}

/**
 * What to change so that a category stands at a place among the children of a parent. The new siblings are numbered
 * from 0, and only those that change are named.
 *
 * @param index - the place among the new siblings, without the category itself; larger than their number means last
 * @returns nothing if it stands there already, or would stand below itself
 */
export function movesTo (
  categories: readonly Category[],
  id: string,
  parent: string | null,
  index: number
): readonly Move[] {
  const category = categories.find((category) => category.id === id)
  if (category === undefined || (parent !== null && familyOf(categories, id).has(parent))) return []
  const siblings = categories.filter((other) => other.parent_id === parent && other.id !== id).sort(bySiblingOrder)
  const ordered = siblings.toSpliced(index, 0, category)
  return ordered.flatMap((sibling, position): Move[] => {
    const changes = {
      ...sibling.id === id && sibling.parent_id !== parent && { parent_id: parent },
      ...sibling.position !== position && { position }
    }
    return Object.keys(changes).length === 0 ? [] : [{ id: sibling.id, changes }]
  })
}
