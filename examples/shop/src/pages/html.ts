/** A piece of HTML. */
export class Html {
  readonly text: string

  constructor (text: string) {
    this.text = text
  }
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;'
}

/** Escapes every value of a template, except HTML. Lists are joined. */
export function html (strings: TemplateStringsArray, ...values: ReadonlyArray<string | Html | readonly Html[]>): Html {
  return new Html(String.raw({ raw: strings }, ...values.map(textOf)))
}

function textOf (value: string | Html | readonly Html[]): string {
  if (typeof value === 'string') return value.replace(/[&<>"']/g, (character) => ENTITIES[character]!)
  return value instanceof Html ? value.text : value.map(({ text }) => text).join('')
}
