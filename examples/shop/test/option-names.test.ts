import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { inSettings, SETTING_OF } from '../src/settings/option-names.ts'

t.test('messages of dual-auth name the settings of the shop', (t) => {
  const wrong = 'jwt.issuer is https://idp.example/, but … says that the issuer is https://idp.example: set ' +
    'jwt.issuer to exactly that'
  t.equal(
    inSettings(wrong),
    'IDP_ISSUER is https://idp.example/, but … says that the issuer is https://idp.example: set IDP_ISSUER to ' +
      'exactly that'
  )
  t.match(inSettings(wrong, 'https://idp.example/'), /^IDP_SECOND_ISSUER is .* set IDP_SECOND_ISSUER to/)
  t.match(inSettings(wrong, 'https://other.example/'), /^IDP_ISSUER is /)
  for (
    const [text, expected] of [
      [
        'Request a token for your API, by its audience, resource or scope; or add this value to audience, if it means',
        'Request a token for your API, by its audience, resource or scope; or add this value to IDP_AUDIENCE, if it ' +
        'means'
      ],
      ['in api:// in front: if both mean your API, list both in audience', /list both in IDP_AUDIENCE$/],
      ['set issuer to exactly what tokens say', 'set IDP_ISSUER to exactly what tokens say'],
      ['let jwt list both', 'set it as IDP_SECOND_ISSUER'],
      ['Add "ES256" to algorithms, if your', 'Add "ES256" to IDP_ALGORITHMS, if your'],
      ['Its tenant is not one of tenants: "x"', 'Its tenant is not one of IDP_TENANTS: "x"'],
      ['add it to userClients; set provider to generic', 'add it to IDP_USER_CLIENT_IDS; set IDP_PROVIDER to generic'],
      ['or set claims.client to azp', 'or set IDP_CLIENT_CLAIM to azp']
    ] as const
  ) t.match(inSettings(text), expected)
  t.end()
})

t.test('each is said so by dual-auth: a message that is worded anew would keep its option', (t) => {
  const folder = fileURLToPath(new URL('.', import.meta.resolve('dual-auth')))
  const program = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.js'))
    .map((file) => readFileSync(`${folder}/${file}`, 'utf8')).join('\n')
  for (const [option] of SETTING_OF) t.match(program, new RegExp(option.source), option.source)
  t.end()
})
