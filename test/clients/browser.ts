// A browser in which somebody signs in: opens a page, fills in its form, and follows the redirects to the client.
import { callbackFrom } from 'identity-provider'
import { writeFileSync } from 'node:fs'

const [username = '', password = '', failure = '', url = ''] = process.argv.slice(2)
try {
  await fetch(await callbackFrom(new URL(url), { username, password }))
} catch (error) {
  // What the page says.
  writeFileSync(failure, /<p role="alert">(.*)<\/p>/.exec(String(error))?.[1] ?? String(error))
}
