import t from 'tap'
import { crc32 } from 'node:zlib'
import { keyMatcher, mintKey } from '../src/keys/format.ts'
import { costFromHash, hashFromKey, hashMatches, hashMatchesInline } from '../src/keys/hash.ts'

const isKey = keyMatcher('shop_test')

t.test('a key is marker, 12 characters of prefix, 43 of secret and 6 of checksum', async (t) => {
  for (let i = 0; i < 200; i++) {
    const { prefix, plaintext } = mintKey('shop_test')
    t.match(plaintext, /^shop_test_[0-9A-Za-z]{12}_[0-9A-Za-z]{49}$/)
    t.ok(plaintext.startsWith(`shop_test_${prefix}_`))
    t.ok(isKey(plaintext))
  }
})

t.test('no two keys are the same, and every character occurs equally often', async (t) => {
  const keys = Array.from({ length: 10_000 }, () => mintKey('m').plaintext)
  t.equal(new Set(keys).size, 10_000)
  const counts = new Map<string, number>()
  for (const character of keys.map((key) => key.slice(15, 58)).join('')) {
    counts.set(character, (counts.get(character) ?? 0) + 1)
  }
  t.equal(counts.size, 62)
  // 6935 expected, with a standard deviation of 83; one byte value too many is 8640
  t.ok(Math.max(...counts.values()) < 7_700)
})

t.test('the checksum is the CRC-32 of all before it, in base62', async (t) => {
  const { plaintext } = mintKey('m')
  const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
  const value = [...plaintext.slice(-6)].reduce((sum, digit) => sum * 62 + digits.indexOf(digit), 0)
  t.equal(value, crc32(plaintext.slice(0, -6)))
})

t.test('a change of any one character is noticed without a lookup', async (t) => {
  const { plaintext } = mintKey('shop_test')
  for (let i = 0; i < plaintext.length; i++) {
    const other = plaintext[i] === 'x' ? 'y' : 'x'
    t.notOk(isKey(plaintext.slice(0, i) + other + plaintext.slice(i + 1)), `position ${i}`)
  }
})

t.test('a hash is judged as scrypt-kdf judges it, whichever of its bytes is changed', async (t) => {
  const { default: Scrypt } = await import('scrypt-kdf') as unknown as { default: typeof import('scrypt-kdf') }
  for (const logN of [1, 4, 6]) {
    for (const key of ['k', 'ключ', '']) {
      const hash = await hashFromKey(key, logN)
      t.equal(await hashMatches(hash, key), true)
      t.equal(hashMatchesInline(hash, key), true)
      t.equal(await Scrypt.verify(hash, key), true)
      t.equal(await hashMatches(new Uint8Array(hash), key), true, 'as the bytes of any array')
    }
  }
  const hash = await hashFromKey('k', 1)
  for (let i = 0; i < hash.length; i++) {
    const copy = Buffer.from(hash)
    copy[i]! ^= 1
    // Scrypt.verify does not look at the first bytes, but at their checksum.
    t.equal(await hashMatches(copy, 'k'), await Scrypt.verify(copy, 'k'), `byte ${i}`)
    t.equal(await hashMatches(copy, 'k'), false)
    t.equal(hashMatchesInline(copy, 'k'), false)
  }
})

t.test('a hash that asks for more than this package writes is refused unrun', async (t) => {
  const hash = await hashFromKey('k', 4)
  const tampered = (change: (copy: Buffer) => unknown) => {
    const copy = Buffer.from(hash)
    change(copy)
    return costFromHash(copy)
  }
  for (const logN of [1, 15]) t.equal(tampered((copy) => copy.writeUInt8(logN, 7)), logN)
  t.equal(tampered((copy) => copy.writeUInt8(16, 7)), null)
  t.equal(tampered((copy) => copy.writeUInt8(30, 7)), null)
  t.equal(tampered((copy) => copy.writeUInt8(0, 7)), null)
  t.equal(tampered((copy) => copy.writeUInt32BE(1, 8)), null)
  t.equal(tampered((copy) => copy.writeUInt32BE(1024, 12)), null)
  t.equal(costFromHash(hash.subarray(0, 95)), null)
  t.equal(costFromHash(Buffer.concat([hash, Buffer.alloc(1)])), null)
})
