import { toolNames } from '../../../examples/shop/test/tool-names.ts'
import { data, type Stage, type Visit } from '../scene.ts'

/** Without a credential: the client finds the identity provider, and a person signs in. */
export async function signIn ({ shop: { demo, person } }: Stage): Promise<Visit> {
  return {
    name: 'sign-in',
    origin: demo.base_url,
    headers: {},
    person,
    tools: toolNames,
    instructions: 'Manages the catalogs of shops.',
    scenes: [{
      title: 'sign-in',
      about: 'no credential: a person signs in with a browser',
      tool: 'list_tags',
      arguments: { shop_id: demo.shops[0]!.id, filter: { slug: ['bestseller'] } },
      says: data('[{"id":"ID","shop_id":"ID","name":"Bestseller","slug":"bestseller","created_at":"TIME","updated_at":"TIME"}]', 'content-range: tags 0-25/1')
    }]
  }
}
