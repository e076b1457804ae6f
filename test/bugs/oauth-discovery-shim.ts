/* eslint no-template-curly-in-string: 0 -- these are lines of sources */
import type { Bug } from './bug.ts'

export const bugs: readonly Bug[] = [
  {
    suffered: 'a refresh token is good for 30 days in all, not since its last use: nobody who works daily stays signed in',
    file: 'src/broker/tokens/refresh-token.ts',
    before: "broker.sealer.seal('refresh', next, lifetimeOf(broker))",
    after: "broker.sealer.seal('refresh', next, Math.ceil(lifetimeOf(broker) / next.generation))",
    noticedBy: 'test/broker/time.test.ts'
  },
  {
    suffered: 'a client that loses the response of the identity provider cannot refresh again: the token counts as used before it was exchanged',
    file: 'src/broker/tokens/refresh.ts',
    before: 'const last = await store.raise(key, generation - 1, lifetime)',
    after: 'const last = await store.raise(key, generation, lifetime)',
    noticedBy: 'test/broker/attacks.test.ts'
  },
  {
    suffered: 'a copied refresh token works on: its reuse is refused, but the sign-in goes on at the identity provider',
    file: 'src/broker/tokens/refresh.ts',
    before: '    await provider.revoke(token)\n',
    after: '',
    noticedBy: 'test/broker/attacks.test.ts'
  },
  {
    suffered: 'revoking while a refresh is under way leaves the new token alive',
    file: 'src/broker/tokens/refresh.ts',
    before: 'if (mayNotUse(now)) throw await end(tokens.refreshToken ?? used.token)',
    after: 'if (mayNotUse(now) && now.value !== REVOKED) throw await end(tokens.refreshToken ?? used.token)',
    noticedBy: 'test/broker/attacks.test.ts'
  },
  {
    suffered: 'what the provider gave in place of a revoked token stays alive there: the old one is ended instead',
    file: 'src/broker/tokens/refresh.ts',
    before: 'throw await end(tokens.refreshToken ?? used.token)',
    after: 'throw await end(used.token)',
    noticedBy: 'test/broker/attacks.test.ts'
  },
  {
    suffered: 'a client that asks for fewer scopes once never gets all of them again',
    file: 'src/broker/tokens/refresh.ts',
    before: 'return responseFrom(tokens, used, broker)',
    after: 'return responseFrom(tokens, { ...used, scope: scope ?? used.scope }, broker)',
    noticedBy: 'test/broker/attacks.test.ts'
  },
  {
    suffered: 'an identity provider that keeps its refresh tokens signs everybody out at the second refresh',
    file: 'src/broker/tokens/refresh-token.ts',
    before: 'token: refreshToken ?? used.token }',
    after: "token: refreshToken ?? '' }",
    noticedBy: 'test/broker/sign-in.test.ts'
  },
  {
    suffered: 'tokens of a code that was used twice stay valid for the thief',
    file: 'src/broker/tokens/token.ts',
    before: '    await store.raise(familyKey(code.family), REVOKED, lifetimeOf(broker))\n',
    after: '',
    noticedBy: 'test/broker/attacks.test.ts'
  },
  {
    suffered: 'anybody who sees a code in a log uses it up before its client does',
    file: 'src/broker/tokens/token.ts',
    before: "if (!provesChallenge(required(parameters, 'code_verifier'), code.challenge)) throw",
    after: "if (!provesChallenge(required(parameters, 'code_verifier'), code.challenge) && (await store.raise(`code:${code.family}`, 1, 2 * CODE_LIFETIME)).raised) throw",
    noticedBy: 'test/broker/attacks.test.ts'
  },
  {
    suffered: 'a code is refused whose client spells the callback with another port',
    file: 'src/broker/clients/redirect-uri.ts',
    before: 'known === uri || (anyPort !== undefined && portless(known) === anyPort)',
    after: 'known === uri',
    noticedBy: 'test/broker/pure.test.ts'
  },
  {
    suffered: 'a revoked token is refused at first and works again after a while: the store forgets it too early',
    file: 'src/broker/store/knex.ts',
    before: 'now() + make_interval(secs => ?))',
    after: 'now() + make_interval(secs => ? / 1000.0))',
    noticedBy: 'test/broker/memory.test.ts'
  },
  {
    suffered: 'in Redis, used tokens are remembered for as long as the first of their chain only',
    file: 'src/broker/store/redis.ts',
    before: "redis.call('EXPIRE', KEYS[1], ARGV[3])",
    after: "redis.call('EXPIRE', KEYS[1], ARGV[3], 'NX')",
    noticedBy: 'test/broker/memory.test.ts'
  },
  {
    suffered: 'sign-ins fail on a database whose default is serializable',
    file: 'src/broker/store/knex.ts',
    before: 'if ((error as { readonly code?: unknown }).code !== MET || tries === MOST_TRIES) throw error',
    after: 'if ((error as { readonly code?: unknown }).code !== MET || tries > 0) throw error',
    on: 'postgres',
    noticedBy: 'test/broker/memory.test.ts'
  },
  {
    suffered: 'two replicas accept one refresh token at the same moment',
    file: 'src/broker/store/knex.ts',
    before: 'where stored.value < excluded.value or',
    after: 'where stored.value <= excluded.value or',
    noticedBy: 'test/broker/memory.test.ts'
  },
  {
    suffered: 'a person who said no is still let through next time: the old yes is remembered',
    file: 'src/broker/sign-in/start.ts',
    before: "browser.set('consent', forgotten(sealer, browser, signIn.remember),",
    after: "browser.set('consent', rememberedWith(sealer, browser, signIn.remember, rememberConsent),",
    noticedBy: 'test/broker/sign-in.test.ts'
  },
  {
    suffered: 'a site starts a sign-in in the name of somebody who allowed its client before, without a question',
    file: 'src/broker/sign-in/start.ts',
    before: "return headers['sec-fetch-site'] === 'none' || headers['sec-fetch-site'] === 'same-origin'",
    after: "return headers['sec-fetch-site'] !== 'cross-site'",
    noticedBy: 'test/broker/attacks.test.ts'
  },
  {
    suffered: 'a client that gets more scopes than before is not shown to the person again',
    file: 'src/broker/sign-in/authorize.ts',
    before: 'digest(`${client.id} ${redirectUri} ${scope}`)',
    after: 'digest(`${client.id} ${redirectUri}`)',
    noticedBy: 'test/broker/sign-in.test.ts'
  },
  {
    suffered: 'a second click on the callback signs in a second time with one code',
    file: 'src/broker/sign-in/callback.ts',
    before: 'const family = digest(state).slice(0, 22)',
    after: 'const family = digest(code).slice(0, 22)',
    noticedBy: 'test/broker/double-click.test.ts'
  },
  {
    suffered: 'a sign-in that the provider refused shows an error page in place of going back to the app',
    file: 'src/broker/sign-in/callback.ts',
    before: 'if (sender === undefined ? sendsIssuer() : sender !== issuer) throw',
    after: 'if (sender === undefined ? sendsIssuer() : sender !== publicBaseUrl) throw',
    noticedBy: 'test/broker/sign-in.test.ts'
  },
  {
    suffered: 'a client with a secret cannot sign in whose secret has a plus or a colon in it',
    file: 'src/broker/tokens/provider-authentication.ts',
    before: '`${formEncoded(clientId)}:${formEncoded(clientSecret)}`',
    after: '`${clientId}:${clientSecret}`',
    noticedBy: 'test/broker/sign-in.test.ts'
  },
  {
    suffered: 'clients think that their token never expires, because the provider writes its lifetime as text',
    file: 'src/broker/tokens/provider-calls.ts',
    before: "['number', 'string'].includes(typeof seconds) && seconds !== ''",
    after: "typeof seconds === 'number'",
    noticedBy: 'test/broker/sign-in.test.ts'
  },
  {
    suffered: 'an outage of the identity provider makes clients throw their sign-in away',
    file: 'src/broker/tokens/provider-calls.ts',
    before: 'if (status >= 500 || status === 429) throw unavailable()',
    after: 'if (status >= 500) throw unavailable()',
    noticedBy: 'test/broker/sign-in.test.ts'
  },
  {
    suffered: 'nobody signs in with a client whose maker has an outage, although its document was read an hour ago',
    file: 'src/broker/clients/documents.ts',
    before: 'if (older !== undefined && error instanceof DocumentOutage) return older.value',
    after: 'if (older !== undefined && older.until > Date.now() && error instanceof DocumentOutage) return older.value',
    noticedBy: 'test/broker/documents.test.ts'
  },
  {
    suffered: 'a client that changed its callbacks is refused for a day',
    file: 'src/broker/clients/documents.ts',
    before: 'readAt + Math.min(Math.max(maxAge, SHORTEST), LONGEST) * 1000',
    after: 'readAt + Math.max(Math.max(maxAge, SHORTEST), LONGEST) * 1000',
    noticedBy: 'test/broker/documents.test.ts'
  },
  {
    suffered: 'a document that is kept for minutes is read again on every sign-in: seconds are taken for milliseconds',
    file: 'src/broker/clients/documents.ts',
    before: 'Math.min(Math.max(maxAge, SHORTEST), LONGEST) * 1000 })',
    after: 'Math.min(Math.max(maxAge, SHORTEST), LONGEST) })',
    noticedBy: 'test/broker/documents.test.ts'
  },
  {
    suffered: 'a name that leads into the private network at the second look is connected to',
    file: 'src/public-address.ts',
    before: 'const hidden = addresses.find(address => !isAllowed(address, loopback))',
    after: 'const hidden = addresses.every(address => !isAllowed(address, loopback)) ? addresses[0] : undefined',
    noticedBy: 'test/broker/documents.test.ts'
  },
  {
    suffered: 'an assertion of a client can be sent twice, in the last seconds of its life',
    file: 'src/broker/clients/authentication.ts',
    before: 'Math.ceil(left) + 2 * TOLERANCE)',
    after: 'Math.max(1, Math.ceil(left)))',
    noticedBy: 'test/broker/documents.test.ts'
  },
  {
    suffered: 'the last good document of the identity provider is lost when it cannot be read for a moment',
    file: 'src/provider.ts',
    before: '      failures += 1\n',
    after: '      failures += 1\n      if (failures > 1) metadata = undefined\n',
    noticedBy: 'test/provider.test.ts'
  },
  {
    suffered: 'after an outage, the identity provider is asked at the old slow pace: failures are never forgotten',
    file: 'src/provider.ts',
    before: '      failures = 0\n',
    after: '',
    noticedBy: 'test/provider.test.ts'
  },
  {
    suffered: 'a rotated secret signs everybody out: only the newest opens what was sealed',
    file: 'src/broker/seal.ts',
    before: 'const key = ring.get(id)?.get(purpose)',
    after: 'const key = ring.get(newest)?.get(purpose)',
    noticedBy: 'test/broker/pure.test.ts'
  },
  {
    suffered: 'the name of an app in another alphabet is cut in the middle of a letter, or far too early',
    file: 'src/broker/clients/client.ts',
    before: "`${[...text].slice(0, LONGEST_NAME - 1).join('')}…`",
    after: '`${text.slice(0, LONGEST_NAME - 1)}…`',
    noticedBy: 'test/broker/pure.test.ts'
  }
]
