import { toolNames } from '../../../examples/shop/test/tool-names.ts'
import { data, type Stage, type Visit } from '../scene.ts'

/** Without a credential: the client finds the identity provider, and a person signs in. */
export async function signIn (stage: Stage): Promise<Visit> {
  return visit(stage, 'sign-in')
}

/** The same, of a client that is told the URL of a metadata document. */
export async function signInByDocument (stage: Stage): Promise<Visit> {
  return { ...visit(stage, 'sign-in by document'), byDocument: true }
}

function visit ({ shop: { demo, person } }: Stage, title: string): Visit {
  return {
    name: title,
    origin: demo.base_url,
    headers: {},
    person,
    tools: toolNames,
    instructions: 'Manages the catalogs of shops.',
    scenes: [{
      title,
      tool: 'list_tags',
      arguments: { shop_id: demo.shops[0]!.id, filter: { slug: ['bestseller'] } },
      says: data(
        '[{"id":"ID","shop_id":"ID","name":"Bestseller","slug":"bestseller","created_at":"TIME","updated_at":"TIME"}]',
        'content-range: tags 0-25/1'
      )
    }]
  }
}
