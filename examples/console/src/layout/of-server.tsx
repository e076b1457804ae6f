/** What the server says, which is English in every language of the console: a screen reader has to know. */
export function OfServer ({ text }: { readonly text: string }) {
  return <span lang='en'>{text}</span>
}
