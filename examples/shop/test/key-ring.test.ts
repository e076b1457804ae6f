import t from 'tap'
import { keyRing } from '../src/pay/key-ring.ts'

const SHOP = '6f0e9f5c-94f7-4f7b-9a43-0a4a4c1f6c11'
const OTHER = 'c7a3a2d6-3a4e-4c59-8d43-7d5f3b2f7a22'
const KEY = 'sk_test_canary51H'
const [older, newer] = [`2025:${'o'.repeat(32)}`, `2026:${'n'.repeat(32)}`]
const ring = keyRing([newer, older])
const sealed = ring.seal(KEY, SHOP)
const unreadable = { code: 'SHOP_PAY_KEY_UNREADABLE', message: `The payment key of shop ${SHOP} cannot be decrypted` }

t.test('an id stands for one secret', async (t) => {
  const secret = 'n'.repeat(32)
  const thrown = t.throws(() => keyRing([newer, older, `2025:${secret}`])) as { message: string }
  t.match(thrown, {
    code: 'SHOP_SETTINGS',
    message: /PAY_KEY_SECRETS has several secrets with the id 2025: give each secret its own id$/
  })
  t.notMatch(thrown.message, secret)
})

t.test('nothing else opens', async (t) => {
  t.throws(() => ring.open(sealed, OTHER), { code: 'SHOP_PAY_KEY_UNREADABLE' }, 'for another shop')
  const [version, id, iv, text, tag] = sealed.split(':') as [string, string, string, string, string]
  const flipped = (part: string): string => (part.startsWith('A') ? 'B' : 'A') + part.slice(1)
  for (
    const [what, stored] of [
      ['another version', ['v2', id, iv, text, tag]],
      ['an unknown secret', [version, '2024', iv, text, tag]],
      ['another secret', [version, '2025', iv, text, tag]],
      ['another iv', [version, id, flipped(iv), text, tag]],
      ['no iv', [version, id, '', text, tag]],
      ['another text', [version, id, iv, flipped(text), tag]],
      ['another tag', [version, id, iv, text, flipped(tag)]],
      ['half a tag', [version, id, iv, text, tag.slice(0, 6)]],
      ['no tag', [version, id, iv, text]],
      ['something more', [version, id, iv, text, tag, '']],
      ['the key itself', [KEY]],
      ['nothing', ['']]
    ] as const
  ) t.throws(() => ring.open(stored.join(':'), SHOP), unreadable, what)
})
