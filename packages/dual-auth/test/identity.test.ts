import t from 'tap'
import { identityFromClaims, type ClaimRules } from '../src/tokens/identity.ts'
import { TOKEN_SHAPES } from '../src/tokens/providers.ts'

const NOW = 1_700_000_000
const shape = TOKEN_SHAPES.cognito
const rules: ClaimRules = {
  shape,
  claims: shape.claims,
  userClients: ['web'],
  machineClients: undefined,
  machineScopes: undefined,
  sessionTokens: false,
  checkAllClients: false,
  audience: undefined,
  clockTolerance: 5_000
}
const issuer = 'https://issuer.test'
const user = { iss: issuer, sub: 'u1', client_id: 'web', token_use: 'access', username: 'ada', iat: NOW, exp: NOW + 60 }
const machine = {
  iss: issuer,
  sub: 'robot',
  client_id: 'robot',
  token_use: 'access',
  scope: 'shop/api',
  iat: NOW,
  exp: NOW + 60
}

t.test('a person: subject, name, groups, scopes, all frozen', async (t) => {
  const identity = identityFromClaims(
    { ...user, scope: 'openid email', 'cognito:groups': ['staff'] },
    rules,
    NOW * 1000
  )
  t.strictSame(identity, {
    kind: 'user',
    issuer,
    subject: 'u1',
    username: 'ada',
    groups: ['staff'],
    scopes: ['openid', 'email']
  })
  t.ok(
    Object.isFrozen(identity) && Object.isFrozen(identity.scopes) && identity.kind === 'user' &&
      Object.isFrozen(identity.groups)
  )
})

t.test('a person without name, groups or scopes', async (t) => {
  const { username, ...claims } = user
  const identity = identityFromClaims(claims, rules, NOW * 1000)
  t.strictSame(identity, { kind: 'user', issuer, subject: 'u1', username: null, groups: [], scopes: [] })
  t.ok(Object.isFrozen(identity.scopes) && identity.kind === 'user' && Object.isFrozen(identity.groups))
  t.strictSame(
    identityFromClaims({ ...claims, username: null, scope: '', 'cognito:groups': { staff: {} } }, rules, NOW * 1000),
    { kind: 'user', issuer, subject: 'u1', username: null, groups: ['staff'], scopes: [] }
  )
})

t.test("a person's token with a machine's scope stays a person's", async (t) => {
  t.equal(identityFromClaims({ ...user, scope: 'shop/api' }, rules, NOW * 1000).kind, 'user')
})

for (const scope of ['shop/api', 'a/b/api', 'https://shop.test/api', 'other x/api', ['other', 'x/api']]) {
  t.test(`the scope ${JSON.stringify(scope)} makes a machine`, async (t) => {
    t.equal(identityFromClaims({ ...machine, scope }, rules, NOW * 1000).kind, 'machine')
  })
}

t.test('with a list of scopes only these make a machine', async (t) => {
  const listed = { ...rules, machineScopes: ['shop/api'] }
  t.equal(identityFromClaims(machine, listed, NOW * 1000).kind, 'machine')
  t.throws(() => identityFromClaims({ ...machine, scope: 'evil/api' }, listed, NOW * 1000))
})

const refused: Array<[string, Record<string, unknown>, string]> = [
  [
    'no name and the client as subject, though the client is an app',
    { username: undefined, sub: 'web' },
    'no machine scope'
  ],
  ['a string as iat', { iat: String(NOW) }, 'exp or iat is not a time'],
  ['iat 6 s ahead', { iat: NOW + 6 }, 'iat is in the future'],
  ['a number as scopes', { scope: 7 }, 'scopes are not a list of scopes']
]
for (const [title, claims, cause] of refused) {
  t.test(`${title} is refused, and the cause says why`, async (t) => {
    t.throws(() => identityFromClaims({ ...user, ...claims }, rules, NOW * 1000), {
      code: 'DUAL_AUTH_CREDENTIAL_INVALID',
      statusCode: 401,
      cause
    })
  })
}

const shapes: Array<[claims: Record<string, unknown>, identity: object, leftOut: string[]]> = [
  [{ 'cognito:groups': 'editors' }, { groups: ['editors'] }, []],
  [{ 'cognito:groups': '' }, { groups: [] }, ['cognito:groups']],
  [{ 'cognito:groups': ['x', null] }, { groups: ['x'] }, ['cognito:groups']],
  [{ 'cognito:groups': [{}, 7] }, { groups: [] }, ['cognito:groups']],
  [{ 'cognito:groups': { staff: true, admin: false, owner: null } }, { groups: ['staff'] }, []],
  [{ 'cognito:groups': 7 }, { groups: [] }, ['cognito:groups']],
  [{ username: 4711 }, { username: '4711' }, []],
  [{ username: { first: 'Ada' } }, { username: null }, ['username']],
  [{ iat: NOW - 0.25, exp: NOW + 60.5 }, { subject: 'u1' }, []]
]
for (const [claims, identity, expected] of shapes) {
  t.test(`${JSON.stringify(claims)} refuses nobody`, async (t) => {
    const leftOut: string[] = []
    const found = identityFromClaims({ ...user, ...claims }, rules, NOW * 1000, (claim) => leftOut.push(claim))
    t.strictSame({ ...found, ...identity }, found)
    t.strictSame(leftOut, expected)
  })
}

t.test('the cause names each claim that could have been the subject', async (t) => {
  const named = { ...rules, claims: { ...rules.claims, subject: [['uid'], ['user', 'id']] } }
  t.equal(identityFromClaims({ ...user, user: { id: 'u7' } }, named, NOW * 1000).kind, 'user')
  t.throws(() => identityFromClaims(user, named, NOW * 1000), {
    code: 'DUAL_AUTH_CREDENTIAL_INVALID',
    cause: 'uid or user.id is not a string'
  })
})
