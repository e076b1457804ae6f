import { toolNames } from '../../../examples/shop/test/tool-names.ts'
import { data, type Scene, type Stage, type Visit } from '../scene.ts'

/** Without a credential: the client finds the identity provider, and a person signs in. */
export async function signIn (stage: Stage): Promise<Visit> {
  return visit(stage, { title: 'sign-in', about: 'no credential: a person signs in with a browser' })
}

/** The same, of a client that is told the URL of a metadata document. */
export async function signInByDocument (stage: Stage): Promise<Visit> {
  return { ...visit(stage, { title: 'sign-in by document' }), byDocument: true }
}

function visit ({ shop: { demo, person } }: Stage, scene: Pick<Scene, 'title' | 'about'>): Visit {
  return {
    name: scene.title,
    origin: demo.base_url,
    headers: {},
    person,
    tools: toolNames,
    instructions: 'Manages the catalogs of shops.',
    scenes: [{
      ...scene,
      tool: 'list_tags',
      arguments: { shop_id: demo.shops[0]!.id, filter: { slug: ['bestseller'] } },
      says: data('[{"id":"ID","shop_id":"ID","name":"Bestseller","slug":"bestseller","created_at":"TIME","updated_at":"TIME"}]', 'content-range: tags 0-25/1')
    }]
  }
}
