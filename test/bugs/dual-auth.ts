/* eslint no-template-curly-in-string: 0 -- these are lines of sources */
import type { Bug } from './bug.ts'

export const bugs: readonly Bug[] = [
  {
    suffered: 'a key works for another minute after it has expired',
    file: 'src/keys/verify.ts',
    before: 'row.expiresAt.getTime() <= Date.now()',
    after: 'row.expiresAt.getTime() + 60_000 <= Date.now()',
    noticedBy: 'test/attacks-keys.test.ts'
  },
  {
    suffered: 'an expired key looks used: refused calls count as its last use',
    file: 'src/keys/verify.ts',
    before: "    if (row.revokedAt !== null) throw refused('revoked', row, address)",
    after: "    if (row.revokedAt !== null) throw refused('revoked', row, address)\n    lastUsed.touch(row.id, address)",
    noticedBy: 'test/events.test.ts'
  },
  {
    suffered: 'behind a proxy, every key is used from the network of the proxy',
    file: 'src/guard.ts',
    before: 'keys.identityFromKey(credential.value, request.ip)',
    after: 'keys.identityFromKey(credential.value, request.socket.remoteAddress)',
    noticedBy: 'test/events.test.ts'
  },
  {
    suffered: 'clients that write `bearer` get 401',
    file: 'src/tokens/jwt.ts',
    before: "request.headers.authorization?.slice('Bearer '.length)",
    after: "request.headers.authorization?.replace('Bearer ', '')",
    noticedBy: 'test/attacks-keys.test.ts'
  },
  {
    suffered: 'keys with the new pepper only are never written: dropping the old pepper ends the keys in use',
    file: 'src/keys/verify.ts',
    before: 'if (cost !== logN || row.pepperId !== peppers[0].id) rehash(row, key)',
    after: 'if (cost !== logN) rehash(row, key)',
    noticedBy: 'test/rows.test.ts'
  },
  {
    suffered: 'a key that is used while the database is down shows no use for a minute after it is back',
    file: 'src/keys/last-used.ts',
    before: '        for (const { id } of uses) recorded.delete(id)\n',
    after: '',
    noticedBy: 'test/outage.test.ts'
  },
  {
    suffered: 'the list shows a key as unused that was used a moment ago',
    file: 'src/keys/last-used.ts',
    before: 'flush: async () => { await writing }',
    after: 'flush: async () => { void writing }',
    noticedBy: 'test/management.test.ts'
  },
  {
    suffered: 'a stolen key that is used from another country within the minute goes unnoticed',
    file: 'src/keys/last-used.ts',
    before: 'if (key !== undefined && key.address === address && now - key.at < interval) return',
    after: 'if (key !== undefined && now - key.at < interval) return',
    noticedBy: 'test/last-used.test.ts'
  },
  {
    suffered: 'refusals that were counted are lost when the server stops',
    file: 'src/keys/watch.ts',
    before: '      refusals.flush()\n',
    after: '',
    noticedBy: 'test/events.test.ts'
  },
  {
    suffered: 'the event of the last creation is lost when the server stops: nobody waits for the host',
    file: 'src/keys/watch.ts',
    before: 'await settled(timeout)',
    after: 'void settled(timeout)',
    noticedBy: 'test/events.test.ts'
  },
  {
    suffered: 'the event of many refusals names the network of the first caller, which is not the attacker',
    file: 'src/keys/refusals.ts',
    before: '        known.address = address\n',
    after: '',
    noticedBy: 'test/events.test.ts'
  },
  {
    suffered: 'a key called “½ Ltd” is stored under another name',
    file: 'src/keys/key-name.ts',
    before: "text.normalize('NFC')",
    after: "text.normalize('NFKC')",
    noticedBy: 'test/management.test.ts'
  },
  {
    suffered: 'rotating a key that was rotated before makes a successor that expires after the grace of the first',
    file: 'src/keys/rotation.ts',
    before: 'expiryAfter(now, successor ?? key)',
    after: 'expiryAfter(now, key)',
    noticedBy: 'test/rotation.test.ts'
  },
  {
    suffered: 'a rotation makes a key live longer that expires within the grace',
    file: 'src/keys/rotation.ts',
    before: 'expiresAt: earlier(new Date(+now + grace * 1000), key.expiresAt)',
    after: 'expiresAt: new Date(+now + grace * 1000)',
    noticedBy: 'test/rotation.test.ts'
  },
  {
    suffered: 'the successor of a key reports no new network, because it knows none of its predecessor',
    file: 'src/keys/knex.ts',
    before: ", replaces: id, networks: [...strings(row, 'networks')] }",
    after: ', replaces: id }',
    noticedBy: 'test/store-life.test.ts'
  },
  {
    suffered: 'two people who create keys at once get past the limit of the shop',
    file: 'src/keys/knex.ts',
    before: 'select pg_advisory_xact_lock(hashtextextended',
    after: 'select pg_advisory_xact_lock_shared(hashtextextended',
    on: 'postgres',
    noticedBy: 'test/store.test.ts'
  },
  {
    suffered: 'a key that is revoked while it is rotated works again for the grace',
    file: 'src/keys/knex.ts',
    before: "const [replaced] = await trx(keys).where({ id }).whereNull('revoked_at')",
    after: 'const [replaced] = await trx(keys).where({ id })',
    on: 'postgres',
    noticedBy: 'test/life-races.test.ts'
  },
  {
    suffered: 'a key cannot be revoked by its id in capitals',
    file: 'src/management/routes.ts',
    before: 'await revoke(shopOf(request), request.params.key_id.toLowerCase(), request)',
    after: 'await revoke(shopOf(request), request.params.key_id, request)',
    noticedBy: 'test/management.test.ts'
  },
  {
    suffered: 'the counts of active and revoked keys change with the filter of the list',
    file: 'src/keys/knex.ts',
    before: "ofShop.clone().select(count('active')",
    after: "matching.clone().select(count('active')",
    noticedBy: 'test/store.test.ts'
  },
  {
    suffered: 'a key of many networks reports its latest one as new on every use',
    file: 'src/keys/knex-uses.ts',
    before: '(before.new_networks || before.networks)[1:',
    after: '(before.networks || before.new_networks)[1:',
    noticedBy: 'test/store-life.test.ts'
  },
  {
    suffered: 'in the week of a clock change, a key is announced an hour late',
    file: 'src/keys/knex-uses.ts',
    before: 'where expires_at <= ?::timestamptz + make_interval(hours => 24 * days)',
    after: 'where expires_at <= ?::timestamptz + make_interval(days => days)',
    noticedBy: 'test/store-life.test.ts'
  },
  {
    suffered: 'a key that is unused for a second time is never announced again',
    file: 'src/keys/knex-uses.ts',
    before: 'and (unused_notice_at is null or unused_notice_at < last_used_at)',
    after: 'and unused_notice_at is null',
    noticedBy: 'test/store-life.test.ts'
  },
  {
    suffered: 'a leaked key stays valid: the report is answered as done although the database was down',
    file: 'src/scanning/routes.ts',
    before: '      if (failures.length > 0) throw failures[0]\n',
    after: '',
    noticedBy: 'test/scanning.test.ts'
  },
  {
    suffered: 'a true report of a leak is refused for good, because GitHub signed it with a newer key',
    file: 'src/scanning/scanner-keys.ts',
    before: 'if (!isReachable || readAt < cameAt) throw',
    after: 'if (!isReachable) throw',
    noticedBy: 'test/scanning.test.ts'
  },
  {
    suffered: 'tokens are accepted long before the issuer made them: milliseconds are taken for seconds',
    file: 'src/tokens/identity.ts',
    before: 'now + rules.clockTolerance',
    after: 'now + rules.clockTolerance * 1000',
    noticedBy: 'test/attacks-jwt.test.ts'
  },
  {
    suffered: 'HEAD of a list needs a key that may write',
    file: 'src/policy.ts',
    before: "name === 'GET' || name === 'HEAD'",
    after: "name === 'GET'",
    noticedBy: 'test/policy.test.ts'
  },
  {
    suffered: 'the keys of one shop open `/shops//orders`',
    file: 'src/shop.ts',
    before: 'return param === undefined || idFromParam(param) === shopId',
    after: 'return !param || idFromParam(param) === shopId',
    noticedBy: 'test/policy.test.ts'
  },
  {
    suffered: 'a route of several methods needs the scopes of the method that was called first',
    file: 'src/guard.ts',
    before: 'let found = byMethod.get(method)',
    after: 'let found = [...byMethod.values()][0]',
    noticedBy: 'test/policy.test.ts'
  },
  {
    suffered: 'two servers that share a connection pool read each other\'s tables',
    file: 'src/keys/lookup.ts',
    before: "const name = `dual_auth_${createHash('sha256').update(sql).digest('hex').slice(0, 16)}`",
    after: 'const name = `dual_auth_${createHash(\'sha256\').update(String(count)).digest(\'hex\').slice(0, 16)}`',
    noticedBy: 'test/lookup.test.ts'
  },
  {
    suffered: 'nobody learns of a key that the store revoked after its deadline',
    file: 'src/management/routes.ts',
    before: '    }), tell)\n',
    after: '    }))\n',
    noticedBy: 'test/outage.test.ts'
  }
]
