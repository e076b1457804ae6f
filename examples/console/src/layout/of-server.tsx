import { saidIn } from '../api/problem.ts'

/** What the server says, which is English in every language of the console: a screen reader has to know. */
export function OfServer ({ text }: { readonly text: string }) {
  return <span lang='en'>{text}</span>
}

/**
 * Why something failed, with the part of it that the server said.
 *
 * @param text - has that part; default: the message of the error
 */
export function ErrorText ({ error, text = error.message }: { readonly error: Error, readonly text?: string }) {
  const said = saidIn(text, error)
  if (said === undefined) return text
  const at = text.indexOf(said)
  return (
    <>
      {text.slice(0, at)}
      <OfServer text={said} />
      {text.slice(at + said.length)}
    </>
  )
}
