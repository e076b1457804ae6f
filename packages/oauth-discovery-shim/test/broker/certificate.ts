import { generateKeyPairSync, sign } from 'node:crypto'

/** DER (ITU-T X.690): a tag, a length, a value. */
function der (tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const value = Buffer.concat(parts)
  return Buffer.concat([Buffer.from([tag, ...lengthOf(value)]), value])
}

function lengthOf ({ length }: Uint8Array): readonly number[] {
  if (length < 128) return [length]
  return length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255]
}

const sequence = (...parts: readonly Uint8Array[]): Buffer => der(0x30, ...parts)
const oid = (hex: string): Buffer => der(6, Buffer.from(hex, 'hex'))
const time = (date: Date): Buffer => der(0x18, Buffer.from(date.toISOString().replace(/[-:T]|\.\d+/g, '')))

/** A certificate for some hosts and 127.0.0.1 that is its own authority, and its key, both in PEM (RFC 5280 §4.1). */
export function selfSigned (hosts: readonly string[] = ['localhost']): { readonly key: string, readonly cert: string } {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const algorithm = sequence(oid('2a8648ce3d040302')) // ecdsa-with-SHA256
  const name = sequence(der(0x31, sequence(oid('550403'), der(0x0c, Buffer.from('localhost')))))
  const altNames = sequence(
    oid('551d11'),
    der(4, sequence(...hosts.map((host) => der(0x82, Buffer.from(host))), der(0x87, Buffer.from([127, 0, 0, 1]))))
  )
  const body = sequence(
    der(0xa0, der(2, Buffer.from([2]))),
    der(2, Buffer.from([1])),
    algorithm,
    name,
    sequence(time(new Date(Date.now() - 86_400_000)), time(new Date(Date.now() + 86_400_000))),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(altNames))
  )
  const whole = sequence(body, algorithm, der(3, Buffer.from([0]), sign('sha256', body, privateKey)))
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${whole.toString('base64').replace(/.{64}/g, '$&\n')}\n-----END ` +
      'CERTIFICATE-----\n'
  }
}
