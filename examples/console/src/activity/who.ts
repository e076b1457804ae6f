import { texts } from '../texts.ts'

/** Of whom, or of what, pieces of work are shown, as the server takes it. */
export interface Who {
  readonly actor_kind?: string
  readonly actor_id?: string
  readonly operation?: string
}

interface Named {
  readonly id: string
  readonly name: string
}

/** Kinds of work by their names in the address. */
const KINDS: Readonly<Record<string, Who>> = {
  agents: { actor_kind: 'api-key' },
  people: { actor_kind: 'user' },
  machines: { actor_kind: 'machine' },
  imports: { operation: 'import_products' },
  undone: { operation: 'revert_changes' }
}

/** What the address says: a kind, or `api-key:<id>`, or `user:<id>`. Anything else is everybody. */
export function whoFrom (text: string | null): Who {
  const [kind, id] = [text?.slice(0, text.indexOf(':')), text?.slice(text.indexOf(':') + 1)]
  if (text !== null && Object.hasOwn(KINDS, text)) return KINDS[text]!
  return (kind === 'api-key' || kind === 'user') && id !== undefined && id !== ''
    ? { actor_kind: kind, actor_id: id }
    : {}
}

/** Kinds of work, then each key and each person by name. */
export function whoChoices (keys: readonly Named[], people: readonly Named[]): readonly Named[] {
  const { kinds, one } = texts.activity.whose
  return [
    ...Object.keys(KINDS).map((id) => ({ id, name: kinds[id]! })),
    ...keys.map(({ id, name }) => ({ id: `api-key:${id}`, name: `${one.key}: ${name}` })),
    ...people.map(({ id, name }) => ({ id: `user:${id}`, name: `${one.person}: ${name}` }))
  ]
}
