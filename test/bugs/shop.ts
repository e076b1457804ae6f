import type { Bug } from './bug.ts'

export const bugs: readonly Bug[] = [
  {
    suffered: 'the owner of any shop manages the keys, members and payments of a shop where they are staff',
    file: 'src/shops/access.ts',
    before: "const owner = { shop_id: shopId, user_id: request.currentUser?.id ?? null, role: 'owner' }",
    after: "const owner = { user_id: request.currentUser?.id ?? null, role: 'owner' }",
    noticedBy: 'test/tenancy.test.ts'
  },
  {
    suffered: 'a member of any shop reaches all of them',
    file: 'src/shops/access.ts',
    before: '(select from shop_members where shop_id = shops.id and user_id = users.id)',
    after: '(select from shop_members where user_id = users.id)',
    noticedBy: 'test/tenancy.test.ts'
  },
  {
    suffered: 'an owner of any shop adds members to a shop where they are staff',
    file: 'src/shops/member-repository.ts',
    before: "await trx('shop_members').where({ shop_id: shop.id, role: 'owner' })",
    after: "await trx('shop_members').where({ role: 'owner' })",
    noticedBy: 'test/tenancy.test.ts'
  },
  {
    suffered: 'staff read in the history who made keys and members',
    file: 'src/history/kinds.ts',
    before: "if (!isOwner) entries.whereIn('record_kind', [...RECORD_KINDS, 'shop_config'])",
    after: "if (!isOwner) entries.whereIn('record_kind', [...RECORD_KINDS, ...ACCESS_KINDS])",
    noticedBy: 'test/tenancy.test.ts'
  },
  {
    suffered: 'a path with the id in capitals is another shop for its API keys',
    file: 'src/shops/access.ts',
    before: "known.id === id.toLowerCase() && known.status === 'active'",
    after: "known.id === id && known.status === 'active'"
  },
  {
    suffered: 'members whose shop is archived go on working in it with their keys',
    file: 'src/shops/access.ts',
    before: "known.id === id.toLowerCase() && known.status === 'active'",
    after: 'known.id === id.toLowerCase()',
    noticedBy: 'test/shops.test.ts'
  },
  {
    suffered: 'an import goes on after its key was revoked',
    file: 'src/shops/access.ts',
    before: 'where({ shop_id: id, id: actorId, revoked_at: null })',
    after: 'where({ shop_id: id, id: actorId })',
    noticedBy: 'test/access-lost.test.ts'
  },
  {
    suffered: 'an import goes on after its key has expired',
    file: 'src/shops/access.ts',
    before: ".whereRaw('(expires_at is null or expires_at > now())')",
    after: '',
    noticedBy: 'test/access-lost.test.ts'
  },
  {
    suffered: 'a member who was removed downloads the rest of the catalog',
    file: 'src/catalog/product-export.ts',
    before: '        await enterAgain(knex, shop.caller, shop.id)\n',
    after: '',
    noticedBy: 'test/access-lost.test.ts'
  },
  {
    suffered: 'a member who was removed while their undo waited undoes everything',
    file: 'src/history/revert.ts',
    before: '      await enterAgain(trx, shop.caller, shop.id)\n',
    after: '',
    noticedBy: 'test/access-lost.test.ts'
  },
  {
    suffered: 'nobody waits for the check whether the sender of a file is still a member',
    file: 'src/imports/receive.ts',
    before: 'await enterAgain(knex, shop.caller, shop.id)',
    after: 'void enterAgain(knex, shop.caller, shop.id).catch(() => {})',
    noticedBy: 'test/access-lost.test.ts'
  },
  {
    suffered: 'an order is both fulfilled and cancelled: its status is read without a lock',
    file: 'src/shops/order-repository.ts',
    before: 'await rows.update(shop, id, {}, trx) // locks it',
    after: 'await rows.get(shop, id, trx)',
    on: 'postgres',
    noticedBy: 'test/two-writers.test.ts'
  },
  {
    suffered: 'both of the last owners leave a shop at the same time',
    file: 'src/shops/member-repository.ts',
    before: ".orderBy('user_id').forUpdate().select('user_id')",
    after: ".orderBy('user_id').select('user_id')",
    on: 'postgres',
    noticedBy: 'test/two-writers.test.ts'
  },
  {
    suffered: 'the history says that a setting was changed from a value that it no longer had',
    file: 'src/shops/config-repository.ts',
    before: 'const before = configFromRow(await trx(\'shops\').where({ id: shop.id }).forNoKeyUpdate().first(COLUMNS), shop)',
    after: 'const before = configFromRow(await trx(\'shops\').where({ id: shop.id }).first(COLUMNS), shop)',
    on: 'postgres',
    noticedBy: 'test/two-writers.test.ts'
  },
  {
    suffered: 'of two people who change the links of a product, the history has one change from the wrong start',
    file: 'src/shops/record-repository.ts',
    before: ".forNoKeyUpdate().select('id')\n    // In another statement",
    after: ".select('id')\n    // In another statement",
    on: 'postgres',
    noticedBy: 'test/two-writers.test.ts'
  },
  {
    suffered: 'an option of an attribute goes while a product takes it',
    file: 'src/catalog/product-repository.ts',
    before: ".whereIn('id', ids).orderBy('id').forShare()",
    after: ".whereIn('id', ids).orderBy('id')",
    on: 'postgres',
    noticedBy: 'test/two-writers.test.ts'
  },
  {
    suffered: 'somebody who has just lost the role of admin still takes it from another one',
    file: 'src/users/administration.ts',
    before: 'if (!admins.some((admin) => admin.id === caller.id)) throw new SHOP_ADMIN_ONLY()',
    after: 'if (admins.length === 0) throw new SHOP_ADMIN_ONLY()',
    noticedBy: 'test/two-writers.test.ts'
  },
  {
    suffered: 'an empty cell of a file keeps the description that it should clear',
    file: 'src/imports/columns.ts',
    before: 'const empty = isNullable ? null : LEFT_OUT\n',
    after: 'const empty = LEFT_OUT\n',
    noticedBy: 'test/fields.test.ts'
  },
  {
    suffered: 'a batch cannot clear a price: null counts as left out',
    file: 'src/catalog/product-batch.ts',
    before: 'const fields = price === undefined ? rest :',
    after: 'const fields = price === undefined ? Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== null)) as typeof rest :',
    noticedBy: 'test/fields.test.ts'
  },
  {
    suffered: 'a name in decomposed letters is refused at half of its length',
    file: 'src/http/text.ts',
    before: "const composed = text.normalize('NFC').replace(START, '')",
    after: "const composed = text.replace(START, '')",
    noticedBy: 'test/fields.test.ts'
  },
  {
    suffered: 'at the moment when one price ends and the next begins, both are in force',
    file: 'src/shops/price-schemas.ts',
    before: ".orWhere('valid_to', '>', instant)",
    after: ".orWhere('valid_to', '>=', instant)",
    noticedBy: 'test/prices.test.ts'
  },
  {
    suffered: 'a person whose token was refreshed is asked again what they have just confirmed',
    file: 'src/app.ts',
    before: 'return id === null ? undefined :',
    after: "return id === null || kind === 'user' ? undefined :",
    noticedBy: 'test/confirm.test.ts'
  },
  {
    suffered: 'a key that is sent as bearer in small letters has a second window of calls',
    file: 'src/operations/rate-limit.ts',
    before: "credential.replace(/^bearer\\s+/i, '')",
    after: "credential.replace(/^Bearer\\s+/, '')",
    noticedBy: 'test/rate-limit.test.ts'
  },
  {
    suffered: 'a product of another shop can be ordered, with its name and price',
    file: 'src/shops/order-repository.ts',
    before: "trx('products').where({ shop_id: shop.id, status: 'active' })",
    after: "trx('products').where({ status: 'active' })",
    noticedBy: 'test/tenancy.test.ts'
  },
  {
    suffered: 'who undoes what a machine did in their shop undoes what it did in all shops',
    file: 'src/history/revert.ts',
    before: "const entries = trx('history').where({ shop_id: shop.id }).modify(seenBy",
    after: "const entries = trx('history').modify(seenBy",
    noticedBy: 'test/revert.test.ts'
  },
  {
    suffered: 'the old entries of API keys are forgotten with those of products',
    file: 'src/history/retention.ts',
    before: ".whereIn('record_kind', RECORD_KINDS).whereRaw(",
    after: '.whereRaw(',
    noticedBy: 'test/history.test.ts'
  },
  {
    suffered: 'of two people who delete a record at once, both are told that they did it',
    file: 'src/shops/record-repository.ts',
    before: 'if (gone.length === 0) throw notFound(noun, id)',
    after: '',
    noticedBy: 'test/two-writers.test.ts'
  },
  {
    suffered: 'a revert never ends if the id in its path is in capitals',
    file: 'src/history/revert.ts',
    before: 'revertAll(trx, shop, [change.id], dryRun)',
    after: 'revertAll(trx, shop, [id], dryRun)',
    noticedBy: 'test/tenancy.test.ts'
  }
]
