/** A value of a form: text, or more of them under names. */
type FormValue = string | Form
export interface Form { readonly [name: string]: FormValue }

/** Reads `a=1&metadata[b]=2&items[0][c]=3` as nested objects; list indexes stay names. */
export function formFrom (text: string): Form {
  const form: Record<string, FormValue> = Object.create(null)
  for (const [path, value] of new URLSearchParams(text)) {
    const names = path.split(/[[\]]+/).filter(name => name !== '')
    const last = names.pop()
    if (last === undefined) continue
    let target: Record<string, FormValue> = form
    for (const name of names) {
      const known = target[name]
      const next: Record<string, FormValue> = typeof known === 'object' ? known as Record<string, FormValue> : Object.create(null)
      target[name] = next
      target = next
    }
    target[last] = value
  }
  return form
}

export function textIn (form: Form, name: string): string | undefined {
  const value = form[name]
  return typeof value === 'string' ? value : undefined
}

export function textsIn (form: Form, name: string): Readonly<Record<string, string>> {
  const value = form[name]
  if (typeof value !== 'object') return {}
  return Object.fromEntries(Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === 'string'))
}
