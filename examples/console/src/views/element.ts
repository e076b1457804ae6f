type Child = Node | string

/**
 * An element with attributes and children. Strings become text, whatever is in them: nothing of a catalog is read as
 * HTML.
 *
 * @param attributes - false leaves one out
 */
export function element<Tag extends keyof HTMLElementTagNameMap> (
  tag: Tag,
  attributes: Readonly<Record<string, string | number | boolean>> = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[Tag] {
  const made = document.createElement(tag)
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== false) made.setAttribute(name, value === true ? '' : String(value))
  }
  made.append(...children)
  return made
}
