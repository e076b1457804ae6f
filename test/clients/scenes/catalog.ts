import { toolNames } from '../../../examples/shop/test/tool-names.ts'
import { content, data, error, type Scene, type Stage, type Visit } from '../scene.ts'

const INSTRUCTIONS = 'Manages the catalogs of shops.'
let kettles = 0

/** With a key of the shop, which it may leave out: what works, and mistakes of the model. */
export async function catalog ({ shop: { demo } }: Stage): Promise<Visit> {
  const [here, elsewhere] = [demo.shops[0]!.id, demo.shops[1]!.id]
  const tags: ReadonlyArray<{ id: string }> =
    await (await fetch(`${demo.base_url}/shops/${here}/tags/`, { headers: { 'x-api-key': demo.shops[0]!.api_key } }))
      .json() as []
  const kettle = `Kettle ${++kettles}`
  const tag =
    '{"id":"ID","shop_id":"ID","name":"Bestseller","slug":"bestseller","created_at":"TIME","updated_at":"TIME"}'
  return {
    isFirst: true,
    ...visit('catalog', demo, demo.shops[0]!.api_key, [
      {
        title: 'read',
        tool: 'get_tag',
        arguments: { shop_id: here, tag_id: tags[0]!.id },
        says: data(tag)
      },
      {
        title: 'array',
        about: 'a list',
        tool: 'list_tags',
        arguments: { limit: 1 },
        says: data(`[${tag}]`, 'content-range: tags 0-1/6', 'link: <?limit=1&after=CURSOR>; rel="next"')
      },
      {
        title: 'fields',
        tool: 'list_products',
        arguments: {
          shop_id: here,
          limit: 1,
          filter: { slug: ['assam-loose-leaf-100-g'] },
          fields: ['name', 'price_amount', 'currency']
        },
        says: data(
          '[{"name":"Assam Loose Leaf 100 g","price_amount":1100,"currency":"USD"}]',
          'content-range: products 0-1/1'
        )
      },
      {
        title: 'create',
        tool: 'create_product',
        arguments: {
          shop_id: here,
          name: kettle,
          price_amount: 8900,
          tag_ids: [tags[0]!.id],
          metadata: { box: { weight: 1.5 } }
        },
        says: data(
          '{"id":"ID","shop_id":"ID","name":"Kettle N","slug":"kettle-N","description":null,"sku":null,' +
            '"status":"draft","price_amount":8900,"currency":"USD","category_ids":[],"tag_ids":["ID"],' +
            '"attributes":[],"image_urls":[],"metadata":{"box":{"weight":1.5}},"created_at":"TIME",' +
            '"updated_at":"TIME"}',
          'location: /shops/ID/products/ID'
        )
      },
      {
        title: 'nothing',
        tool: 'delete_category',
        arguments: { shop_id: here, category_id: await madeCategory(demo, kettle) },
        asks: { reads: 'Delete the category “Kettle N”?\nIt can be restored from the history.', says: 'yes' },
        says: content('204 No Content: done, and there is nothing to return.')
      },
      {
        title: 'bad argument',
        about: 'an argument that the schema forbids',
        tool: 'list_tags',
        arguments: { limit: 1000 },
        says: error(
          '422 Unprocessable Entity: limit must be an integer from 1 to 200 (SHOP_INVALID)\n{"field":"limit"}'
        )
      },
      {
        title: 'rejected value',
        tool: 'create_product',
        arguments: { shop_id: here, name: kettle, tag_ids: [here] },
        says: error(
          '422 Unprocessable Entity: tag_ids/0 names something that is not in this shop ' +
            '(SHOP_INVALID)\n{"field":"tag_ids/0"}'
        )
      },
      {
        title: 'not found',
        tool: 'get_tag',
        arguments: { tag_id: here },
        says: error('404 Not Found: No tag ID (SHOP_NOT_FOUND)')
      },
      {
        title: 'another shop',
        tool: 'list_tags',
        arguments: { shop_id: elsewhere },
        says: error('403 Forbidden: The API key has no access to this path (DUAL_AUTH_OWNER_FORBIDDEN)')
      }
    ])
  }
}

/** With a key that may only read. */
export async function readOnly ({ shop }: Stage): Promise<Visit> {
  const { demo } = shop
  const here = demo.shops[0]!.id
  // It is shown what it can call; some clients call what is not listed, and the others say so themselves.
  return {
    ...visit('read-only key', demo, (await shop.createKey(['read'])).plaintext, [
      {
        title: 'forbidden',
        tool: 'create_tag',
        arguments: { shop_id: here, name: 'Forbidden' },
        says: error(
          '403 Forbidden: create_tag needs the scope write or create_tag. This API key has only the scope read ' +
            '(DUAL_AUTH_SCOPE_INSUFFICIENT)'
        )
      },
      {
        title: 'allowed after that',
        tool: 'list_tags',
        arguments: { shop_id: here, filter: { slug: ['bestseller'] } },
        says: data(
          '[{"id":"ID","shop_id":"ID","name":"Bestseller","slug":"bestseller","created_at":"TIME",' +
            '"updated_at":"TIME"}]',
          'content-range: tags 0-25/1'
        )
      }
    ]),
    tools: toolNames.filter((name) => /^(get|list)_/.test(name))
  }
}

/** With a key that is revoked while the client is connected. */
export async function revoked ({ shop }: Stage): Promise<Visit> {
  const { demo } = shop
  const key = await shop.createKey(['read', 'write'])
  return visit('revoked key', demo, key.plaintext, [
    {
      title: 'revoked',
      before: async () => await shop.revokeKey(key.id),
      tool: 'list_tags',
      arguments: { shop_id: demo.shops[0]!.id },
      says: { status: 401 }
    }
  ])
}

function visit (name: string, demo: Stage['shop']['demo'], key: string, scenes: readonly Scene[]): Visit {
  return {
    name,
    origin: demo.base_url,
    headers: { 'X-API-Key': key },
    tools: toolNames,
    instructions: INSTRUCTIONS,
    scenes
  }
}

/** @returns the id of a category to delete */
async function madeCategory (
  { base_url: baseUrl, shops: [here] }: Stage['shop']['demo'],
  name: string
): Promise<string> {
  const response = await fetch(`${baseUrl}/shops/${here!.id}/categories/`, {
    method: 'POST',
    headers: { 'x-api-key': here!.api_key, 'content-type': 'application/json' },
    body: JSON.stringify({ name })
  })
  const { id } = await response.json() as { id: string }
  return id
}
