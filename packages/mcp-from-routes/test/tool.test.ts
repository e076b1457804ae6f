import { Ajv2020 } from 'ajv/dist/2020.js'
import { Type } from '@sinclair/typebox'
import type { FastifyContextConfig, FastifySchema } from 'fastify'
import t from 'tap'
import { z } from 'zod'
import { definitionOf, toolFromRoute, type ExposedRoute } from '../src/tool/tool.ts'

const OPTIONS = { exposedTag: 'mcp', forwardHeaders: ['authorization'], maxResultBytes: 1_000_000 }

interface Route {
  method?: string | string[]
  url?: string
  schema?: FastifySchema
  config?: FastifyContextConfig & { rawBody?: unknown }
  constraints?: Record<string, unknown>
  websocket?: boolean
  shared?: Record<string, unknown>
}

function route (
  { method = 'GET', url = '/things', schema = {}, config = {}, constraints = {}, websocket = false, shared = {} }: Route
): ExposedRoute {
  return {
    method,
    url,
    schema: { operationId: 'a_tool', description: 'A tool.', tags: ['mcp'], ...schema },
    config,
    constraints,
    websocket,
    keepsToSchema: true,
    fillsDefaults: true,
    shared
  }
}

function toolOf (from: Route): ReturnType<typeof toolFromRoute> {
  return toolFromRoute(route(from), OPTIONS)
}

const closed = (properties: Record<string, unknown>, more: Record<string, unknown> = {}): Record<string, unknown> => ({
  type: 'object',
  properties,
  ...more,
  additionalProperties: false
})

const Tree = z.object({
  name: z.string(),
  get kids () {
    return z.array(Tree).optional()
  }
})
const Ping = z.object({
  get pong () {
    return Pong.optional()
  }
})
const Pong = z.object({ ping: z.lazy(() => Ping).optional() })

const inputs: Array<{ title: string, from: Route, schema: Record<string, unknown>, body?: string }> = [
  { title: 'a route without inputs takes no arguments', from: {}, schema: closed({}) },
  {
    title: 'a path parameter that is not described is a required string',
    from: { url: '/things/:id' },
    schema: closed({ id: { type: 'string', minLength: 1 } }, { required: ['id'] })
  },
  {
    title: 'an optional path parameter is optional',
    from: { url: '/things/:id?' },
    schema: closed({ id: { type: 'string', minLength: 1 } })
  },
  {
    title: 'path, query string and body become one object',
    from: {
      method: 'PUT',
      url: '/shops/:shop_id/things/:id(^\\d+$)',
      schema: {
        params: Type.Object({ shop_id: Type.String({ format: 'uuid' }), id: Type.Integer() }),
        querystring: Type.Object({
          dry: Type.Boolean({ default: false }),
          tag: Type.Optional(Type.Array(Type.String()))
        }),
        body: Type.Object({
          name: Type.String({ description: 'its name' }),
          size: Type.Optional(Type.Union([Type.Literal('s'), Type.Literal('l')]))
        })
      }
    },
    schema: closed({
      shop_id: { format: 'uuid', type: 'string' },
      id: { type: 'integer' },
      dry: { default: false, type: 'boolean' },
      tag: { type: 'array', items: { type: 'string' }, minItems: 1 },
      name: { description: 'its name', type: 'string' },
      size: { anyOf: [{ const: 's', type: 'string' }, { const: 'l', type: 'string' }] }
    }, { required: ['shop_id', 'id', 'name'] }),
    body: 'fields'
  },
  {
    title: 'query is an alias of querystring',
    from: { schema: { query: { type: 'object', properties: { q: { type: 'string' } } } } as FastifySchema },
    schema: closed({ q: { type: 'string' } })
  },
  {
    title: 'the members of an allOf are joined',
    from: {
      method: 'POST',
      schema: {
        body: {
          allOf: [{ type: 'object', properties: { a: { type: 'string' } }, required: ['a'] }, {
            properties: { b: { type: 'integer' } }
          }, { required: ['b'] }]
        }
      }
    },
    schema: closed({ a: { type: 'string' }, b: { type: 'integer' } }, { required: ['a', 'b'] }),
    body: 'fields'
  },
  {
    title: 'a body of any kind is the argument body',
    from: { method: 'POST', schema: { body: true } },
    schema: closed({ body: {} }, { required: ['body'] }),
    body: 'whole'
  },
  {
    title: 'and one that nothing fits',
    from: { method: 'POST', schema: { body: false } },
    schema: closed({ body: { not: {} } }, { required: ['body'] }),
    body: 'whole'
  },
  {
    title: 'a schema that converts itself may be a function',
    from: {
      method: 'POST',
      schema: {
        body: Object.assign(() => 1, {
          '~standard': { jsonSchema: { input: () => ({ type: 'object', properties: { a: { type: 'string' } } }) } }
        })
      }
    },
    schema: closed({ a: { type: 'string' } }),
    body: 'fields'
  },
  {
    title: 'an array body is the argument body',
    from: { method: 'POST', schema: { body: { type: 'array', items: { type: 'string' } } } },
    schema: closed({ body: { type: 'array', items: { type: 'string' } } }, { required: ['body'] }),
    body: 'whole'
  },
  {
    title: 'a body with alternatives is the argument body, because clients refuse alternatives at the root',
    from: {
      method: 'POST',
      schema: {
        body: {
          oneOf: [{ type: 'object', properties: { a: { type: 'string' } } }, {
            type: 'object',
            properties: { b: { type: 'string' } }
          }]
        }
      }
    },
    schema: closed({
      body: {
        oneOf: [{ type: 'object', properties: { a: { type: 'string' } } }, {
          type: 'object',
          properties: { b: { type: 'string' } }
        }]
      }
    }, { required: ['body'] }),
    body: 'whole'
  },
  {
    title: 'a body with free names is the argument body',
    from: { method: 'POST', schema: { body: { type: 'object', additionalProperties: { type: 'integer' } } } },
    schema: closed({ body: { type: 'object', additionalProperties: { type: 'integer' } } }, { required: ['body'] }),
    body: 'whole'
  },
  {
    title: 'an object body without properties is the argument body',
    from: { method: 'POST', schema: { body: { type: 'object' } } },
    schema: closed({ body: { type: 'object' } }, { required: ['body'] }),
    body: 'whole'
  },
  {
    title: 'a closed one takes nothing',
    from: { method: 'POST', schema: { body: { type: 'object', additionalProperties: false } } },
    schema: closed({}),
    body: 'fields'
  },
  {
    title: 'a body that requires what it does not describe is the argument body',
    from: { method: 'POST', schema: { body: { type: 'object', properties: { a: {} }, required: ['a', 'b'] } } },
    schema: closed({ body: { type: 'object', properties: { a: {} }, required: ['a', 'b'] } }, { required: ['body'] }),
    body: 'whole'
  },
  {
    title: 'a query string without properties takes nothing, open or not',
    from: { schema: { querystring: { type: 'object', additionalProperties: true } } },
    schema: closed({})
  },
  {
    title: 'the least number of properties counts the certain ones',
    from: {
      method: 'PATCH',
      url: '/things/:id',
      schema: {
        body: { type: 'object', minProperties: 1, properties: { a: { type: 'string' }, b: { type: 'string' } } }
      }
    },
    schema: closed({ id: { type: 'string', minLength: 1 }, a: { type: 'string' }, b: { type: 'string' } }, {
      required: ['id'],
      minProperties: 2
    }),
    body: 'fields'
  },
  {
    title: 'a JSON body among others is taken',
    from: {
      method: 'POST',
      schema: {
        body: {
          content: {
            'application/xml': { schema: { type: 'string' } },
            'application/json': { schema: { type: 'object', properties: { a: { type: 'string' } } } }
          }
        }
      }
    },
    schema: closed({ a: { type: 'string' } }),
    body: 'fields'
  },
  {
    title: 'shared schemas are inlined',
    from: {
      method: 'POST',
      shared: {
        Thing: { $id: 'Thing', type: 'object', properties: { name: { $ref: 'Name#' } }, required: ['name'] },
        Name: { $id: 'Name', type: 'string', maxLength: 9 }
      },
      schema: { body: { $ref: 'Thing#' } }
    },
    schema: closed({ name: { type: 'string', maxLength: 9 } }, { required: ['name'] }),
    body: 'fields'
  },
  {
    title: 'circular schemas are kept under $defs',
    from: {
      method: 'POST',
      shared: {
        Tree: {
          $id: 'Tree',
          type: 'object',
          nullable: true,
          properties: { kids: { type: 'array', items: { $ref: '#' } } }
        }
      },
      schema: { body: { type: 'object', properties: { tree: { $ref: 'Tree#' } } } }
    },
    schema: {
      ...closed({ tree: { $ref: '#/$defs/Tree' } }),
      $defs: {
        Tree: {
          anyOf: [{ type: 'object', properties: { kids: { type: 'array', items: { $ref: '#/$defs/Tree' } } } }, {
            type: 'null'
          }]
        }
      }
    },
    body: 'fields'
  },
  {
    title: 'a file in an example or default is none',
    from: {
      method: 'POST',
      schema: {
        body: {
          type: 'object',
          properties: {
            a: {
              type: 'object',
              default: { isFile: true },
              examples: [{ isFile: true }],
              properties: { isFile: { type: 'boolean' } }
            }
          }
        }
      }
    },
    schema: closed({
      a: {
        type: 'object',
        default: { isFile: true },
        examples: [{ isFile: true }],
        properties: { isFile: { type: 'boolean' } }
      }
    }),
    body: 'fields'
  },
  {
    title: 'a schema that refers to itself is kept under $defs',
    from: { method: 'POST', schema: { body: Tree } },
    schema: {
      ...closed({ name: { type: 'string' }, kids: { type: 'array', items: { $ref: '#/$defs/self' } } }, {
        required: ['name']
      }),
      $defs: {
        self: {
          type: 'object',
          properties: { name: { type: 'string' }, kids: { type: 'array', items: { $ref: '#/$defs/self' } } },
          required: ['name']
        }
      }
    },
    body: 'fields'
  },
  {
    title: 'so are two that refer to each other',
    from: { method: 'POST', schema: { body: Ping } },
    schema: {
      ...closed({ pong: { type: 'object', properties: { ping: { $ref: '#/$defs/self' } } } }),
      $defs: {
        self: {
          type: 'object',
          properties: { pong: { type: 'object', properties: { ping: { $ref: '#/$defs/self' } } } }
        }
      }
    },
    body: 'fields'
  },
  {
    title: 'what stands beside a reference sees through it',
    from: {
      method: 'POST',
      shared: { Name: { $id: 'Name', type: 'object', properties: { name: { type: 'string' } } } },
      schema: {
        body: {
          type: 'object',
          properties: { a: { $ref: 'Name#', properties: { b: {} }, unevaluatedProperties: false } }
        }
      }
    },
    schema: closed({
      a: {
        properties: { b: {} },
        unevaluatedProperties: false,
        allOf: [{ type: 'object', properties: { name: { type: 'string' } } }]
      }
    }),
    body: 'fields'
  },
  {
    title: 'a schema that path, query string and body share is there once',
    from: {
      method: 'PUT',
      url: '/things/:a',
      shared: {
        Code: {
          $id: 'Code',
          type: 'string',
          description: 'a code of at least eight letters',
          minLength: 8,
          pattern: '^[A-Z]+$'
        }
      },
      schema: {
        params: { type: 'object', properties: { a: { $ref: 'Code#' } } },
        querystring: { type: 'object', properties: { b: { $ref: 'Code#' } } },
        body: { type: 'object', properties: { c: { $ref: 'Code#' } } }
      }
    },
    schema: {
      ...closed({ a: { $ref: '#/$defs/Code' }, b: { $ref: '#/$defs/Code' }, c: { $ref: '#/$defs/Code' } }, {
        required: ['a']
      }),
      $defs: {
        Code: { type: 'string', description: 'a code of at least eight letters', minLength: 8, pattern: '^[A-Z]+$' }
      }
    },
    body: 'fields'
  },
  {
    title: 'what the route fills in is not required, however deep',
    from: {
      method: 'POST',
      schema: {
        body: Type.Object({
          a: Type.String({ default: 'x' }),
          b: Type.String(),
          c: Type.Array(Type.Object({ d: Type.Integer({ default: 0 }) }))
        })
      }
    },
    schema: closed({
      a: { type: 'string', default: 'x' },
      b: { type: 'string' },
      c: { type: 'array', items: { type: 'object', properties: { d: { type: 'integer', default: 0 } } } }
    }, { required: ['b', 'c'] }),
    body: 'fields'
  },
  {
    title: 'in an alternative it is, as the validator only tries it',
    from: {
      method: 'POST',
      shared: { Cat: { $id: 'Cat', ...Type.Object({ cat: Type.String({ default: 'x' }) }) } },
      schema: {
        body: Type.Object({ pet: Type.Union([Type.Ref('Cat'), Type.Object({ dog: Type.String({ default: 'y' }) })]) })
      }
    },
    schema: closed({
      pet: {
        anyOf: [{ type: 'object', properties: { cat: { type: 'string', default: 'x' } }, required: ['cat'] }, {
          type: 'object',
          properties: { dog: { type: 'string', default: 'y' } },
          required: ['dog']
        }]
      }
    }, { required: ['pet'] }),
    body: 'fields'
  },
  {
    title: 'a default behind a reference is not filled in',
    from: {
      method: 'POST',
      shared: { Size: { $id: 'Size', type: 'integer', default: 1 } },
      schema: { body: { type: 'object', properties: { size: { $ref: 'Size#' } }, required: ['size'] } }
    },
    schema: closed({ size: { type: 'integer', default: 1 } }, { required: ['size'] }),
    body: 'fields'
  },
  {
    title: 'a schema that converts itself to JSON Schema is converted',
    from: {
      method: 'POST',
      schema: {
        body: {
          '~standard': {
            version: 1,
            vendor: 'test',
            jsonSchema: { input: () => ({ type: 'object', properties: { a: { type: 'string' } } }), output: () => ({}) }
          }
        }
      }
    },
    schema: closed({ a: { type: 'string' } }),
    body: 'fields'
  }
]

for (const { title, from, schema, body = 'none' } of inputs) {
  t.test(title, async (t) => {
    const { public: tool, request: { input } } = toolOf(from)
    t.strictSame(tool.inputSchema, schema)
    t.equal(input.body, body)
    t.ok(
      new Ajv2020({ strict: true, strictTypes: false, strictRequired: false, formats: { uuid: true } }).compile(
        tool.inputSchema
      )
    )
  })
}

const object = {
  type: 'object',
  properties: { a: { type: 'string', minLength: 3, enum: ['abc'], format: 'email' } },
  required: ['a']
}
const line = {
  type: 'object',
  properties: { text: { type: 'string', description: 'as it was written' }, number: { type: 'integer' } },
  required: ['text']
}
const outputs: Array<{ title: string, response: unknown, schema: unknown, shared?: Record<string, unknown> }> = [
  {
    title: 'what the serializer does not enforce is not promised',
    response: { 200: object },
    schema: { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] }
  },
  {
    title: 'errors are not outputs',
    response: { 201: object, 404: { type: 'string' } },
    schema: { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] }
  },
  {
    title: 'an array is wrapped',
    response: { 200: { type: 'array', items: { type: 'integer', minimum: 1 }, minItems: 1 } },
    schema: {
      type: 'object',
      properties: { result: { type: 'array', items: { type: 'integer' } } },
      required: ['result']
    }
  },
  {
    title: 'several successes are alternatives',
    response: { 200: object, 201: { type: 'integer' } },
    schema: {
      type: 'object',
      properties: {
        result: {
          anyOf: [{ type: 'object', properties: { a: { type: 'string' } }, required: ['a'] }, { type: 'integer' }]
        }
      },
      required: ['result']
    }
  },
  {
    title: 'oneOf becomes anyOf, because relaxed alternatives may overlap',
    response: {
      '2xx': {
        type: 'object',
        properties: { v: { oneOf: [{ type: 'string', enum: ['a'] }, { type: 'string', enum: ['b'] }] } }
      }
    },
    schema: { type: 'object', properties: { v: { anyOf: [{ type: 'string' }, { type: 'string' }] } } }
  },
  {
    title: 'what one part of an allOf closes another may open',
    response: {
      200: {
        type: 'object',
        allOf: [{ type: 'object', properties: { a: { type: 'string' } }, additionalProperties: false }, {
          type: 'object',
          properties: { b: { type: 'string' } }
        }],
        additionalProperties: false
      }
    },
    schema: {
      type: 'object',
      allOf: [{ type: 'object', properties: { a: { type: 'string' } } }, {
        type: 'object',
        properties: { b: { type: 'string' } }
      }]
    }
  },
  {
    title: 'a media type that is JSON',
    response: { 200: { content: { 'application/vnd.api+json': { schema: object } } } },
    schema: { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] }
  },
  {
    title: 'a circular output keeps its definitions beside the wrapping',
    response: { 200: { type: 'array', items: { $ref: 'Tree#' } } },
    shared: {
      Tree: {
        $id: 'Tree',
        type: 'object',
        properties: { n: { type: 'integer', minimum: 1 }, kids: { type: 'array', items: { $ref: '#' } } }
      }
    },
    schema: {
      type: 'object',
      properties: { result: { type: 'array', items: { $ref: '#/$defs/Tree' } } },
      required: ['result'],
      $defs: {
        Tree: {
          type: 'object',
          properties: { n: { type: 'integer' }, kids: { type: 'array', items: { $ref: '#/$defs/Tree' } } }
        }
      }
    }
  },
  {
    title: 'what is required in an inner object is not promised, because null is written as {}',
    response: { 200: { type: 'object', properties: { a: object }, required: ['a'] } },
    schema: {
      type: 'object',
      properties: { a: { type: 'object', properties: { a: { type: 'string' } } } },
      required: ['a']
    }
  },
  {
    title: 'what is required in an alternative of the whole is, and in an item of a list',
    response: {
      200: {
        type: 'object',
        allOf: [object, {
          oneOf: [{ type: 'object', required: ['b'], properties: { b: { type: 'array', items: object } } }]
        }]
      }
    },
    schema: {
      type: 'object',
      allOf: [{ type: 'object', properties: { a: { type: 'string' } }, required: ['a'] }, {
        anyOf: [{
          type: 'object',
          required: ['b'],
          properties: {
            b: { type: 'array', items: { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] } }
          }
        }]
      }]
    }
  },
  {
    title: 'a constant that may be null is none, and a default may be null',
    response: {
      200: {
        type: 'object',
        properties: { a: { type: ['string', 'null'], const: 'a' }, b: { type: 'integer', default: null } }
      }
    },
    schema: {
      type: 'object',
      properties: {
        a: { anyOf: [{ type: 'string' }, { type: 'null' }] },
        b: { default: null, anyOf: [{ type: 'integer' }, { type: 'null' }] }
      }
    }
  },
  {
    title: 'nor what is required in a definition, which may stand for a property',
    response: { 200: { type: 'object', properties: { root: { $ref: 'Node#' } }, required: ['root'] } },
    shared: {
      Node: {
        $id: 'Node',
        type: 'object',
        properties: { id: { type: 'integer' }, parent: { $ref: '#' } },
        required: ['id']
      }
    },
    schema: {
      type: 'object',
      properties: { root: { $ref: '#/$defs/Node' } },
      required: ['root'],
      $defs: { Node: { type: 'object', properties: { id: { type: 'integer' }, parent: { $ref: '#/$defs/Node' } } } }
    }
  },
  {
    title: 'a default null is allowed where there is no type',
    response: {
      200: {
        type: 'object',
        properties: {
          a: { const: 'a', default: null },
          b: { $ref: 'Node#', default: null },
          c: { anyOf: [{ type: 'integer' }, { type: 'boolean' }], default: null },
          d: { allOf: [{ $ref: 'Node#' }, { anyOf: [{ type: 'object' }] }], default: null },
          e: { $ref: 'Node#', anyOf: [{ type: 'object' }], default: null }
        }
      }
    },
    shared: { Node: { $id: 'Node', type: 'object', properties: { parent: { $ref: '#' } } } },
    schema: {
      type: 'object',
      properties: {
        a: { default: null },
        b: { default: null, anyOf: [{ $ref: '#/$defs/Node' }, { type: 'null' }] },
        c: { default: null, anyOf: [{ type: 'integer' }, { type: 'boolean' }, { type: 'null' }] },
        d: {
          default: null,
          allOf: [{ anyOf: [{ $ref: '#/$defs/Node' }, { type: 'null' }] }, {
            anyOf: [{ type: 'object' }, { type: 'null' }]
          }]
        },
        e: {
          default: null,
          anyOf: [{ type: 'object' }, { type: 'null' }],
          allOf: [{ anyOf: [{ $ref: '#/$defs/Node' }, { type: 'null' }] }]
        }
      },
      $defs: { Node: { type: 'object', properties: { parent: { $ref: '#/$defs/Node' } } } }
    }
  },
  {
    title: 'of a tuple the first items are promised',
    response: {
      200: {
        type: 'object',
        properties: {
          at: { type: 'array', items: [{ type: 'integer' }, { type: 'string' }], additionalItems: false, minItems: 2 }
        }
      }
    },
    schema: {
      type: 'object',
      properties: { at: { type: 'array', prefixItems: [{ type: 'integer' }, { type: 'string' }] } }
    }
  },
  {
    title: 'of a tuple that the serializer does not know, only what it writes of all items',
    response: {
      200: {
        type: 'object',
        properties: {
          a: { type: 'array', prefixItems: [{ type: 'integer' }] },
          b: { type: 'array', prefixItems: [{ type: 'integer' }], items: false },
          c: { type: 'array', prefixItems: [{ type: 'integer' }], items: { type: 'string' } },
          d: { $ref: 'Pair#' }
        }
      }
    },
    shared: { Pair: { $id: 'Pair', type: 'array', prefixItems: [{ type: 'integer' }, { $ref: '#' }] } },
    schema: {
      type: 'object',
      properties: {
        a: { type: 'array' },
        b: { type: 'array' },
        c: { type: 'array', items: { type: 'string' } },
        d: { type: 'array' }
      }
    }
  },
  {
    title: 'patterns are not promised, so they need no u flag',
    response: {
      200: { type: 'object', properties: { a: { type: 'string', pattern: '^\\_' }, b: { not: { pattern: '^\\_' } } } }
    },
    schema: { type: 'object', properties: { a: { type: 'string' }, b: {} } }
  },
  {
    title: 'nor are properties whose pattern needs to go without it',
    response: {
      200: {
        type: 'object',
        patternProperties: { '^{': { type: 'string' }, '^x': { type: 'integer' } },
        additionalProperties: false
      }
    },
    schema: { type: 'object', patternProperties: { '^x': { type: 'integer' } } }
  },
  {
    title: 'a schema that is shared promises what holds in all places',
    response: {
      200: {
        type: 'object',
        properties: { first: { $ref: 'Line#' }, all: { type: 'array', items: { $ref: 'Line#' } } }
      }
    },
    shared: { Line: { $id: 'Line', ...line } },
    schema: {
      type: 'object',
      properties: { first: { $ref: '#/$defs/Line' }, all: { type: 'array', items: { $ref: '#/$defs/Line' } } },
      $defs: { Line: { type: 'object', properties: line.properties } }
    }
  },
  {
    title: 'in lists alone it promises what it requires',
    response: {
      200: {
        type: 'object',
        properties: {
          old: { type: 'array', items: { $ref: 'Line#' } },
          all: { type: 'array', items: { $ref: 'Line#' } }
        }
      }
    },
    shared: { Line: { $id: 'Line', ...line } },
    schema: {
      type: 'object',
      properties: {
        old: { type: 'array', items: { $ref: '#/$defs/Line' } },
        all: { type: 'array', items: { $ref: '#/$defs/Line' } }
      },
      $defs: { Line: line }
    }
  },
  {
    title: 'what one alternative closes another may open, also behind references',
    response: {
      200: {
        type: 'object',
        properties: { a: { $ref: 'Line#', properties: { extra: {} } }, b: { $ref: 'Line#', properties: { extra: {} } } }
      }
    },
    shared: { Line: { $id: 'Line', ...line, additionalProperties: false } },
    schema: {
      type: 'object',
      properties: {
        a: { $ref: '#/$defs/Line', properties: { extra: {} } },
        b: { $ref: '#/$defs/Line', properties: { extra: {} } }
      },
      $defs: { Line: { type: 'object', properties: line.properties } }
    }
  },
  {
    title: 'a text is no JSON, so no output schema',
    response: { 200: object, 201: { type: 'string' } },
    schema: undefined
  },
  { title: 'what may be a text, no output schema', response: { 200: { type: ['string', 'null'] } }, schema: undefined },
  {
    title: 'an alternative that may be a text, no output schema',
    response: { 200: { anyOf: [object, { $ref: 'Name#' }] } },
    shared: { Name: { $id: 'Name', type: 'string' } },
    schema: undefined
  },
  {
    title: 'an answer that is not described, no output schema',
    response: { 200: { description: 'Whatever.' } },
    schema: undefined
  },
  {
    title: 'a circular alternative that may be a text, no output schema',
    response: { 200: { $ref: 'Json#' } },
    shared: { Json: { $id: 'Json', anyOf: [{ type: 'string' }, { type: 'array', items: { $ref: '#' } }] } },
    schema: undefined
  },
  {
    title: 'a circular one that may not',
    response: { 200: { $ref: 'List#' } },
    shared: { List: { $id: 'List', anyOf: [{ type: 'integer' }, { type: 'array', items: { $ref: '#' } }] } },
    schema: {
      type: 'object',
      properties: { result: { $ref: '#/$defs/List' } },
      required: ['result'],
      $defs: { List: { anyOf: [{ type: 'integer' }, { type: 'array', items: { $ref: '#/$defs/List' } }] } }
    }
  },
  {
    title: 'a text that is declared as JSON is sent as text all the same, so no output schema',
    response: { 200: { content: { 'application/json': { schema: { type: 'string' } } } } },
    schema: undefined
  },
  {
    title: 'parts of which one is no text',
    response: { 200: { allOf: [{ type: 'object' }, { description: 'x' }] } },
    schema: {
      type: 'object',
      properties: { result: { allOf: [{ type: 'object' }, { description: 'x' }] } },
      required: ['result']
    }
  },
  { title: 'no 2xx schema, no output schema', response: { default: object }, schema: undefined },
  {
    title: 'a 204 among the successes, no output schema',
    response: { 200: object, 204: { type: 'null' } },
    schema: undefined
  },
  {
    title: 'another media type, no output schema',
    response: { 200: { content: { 'text/csv': { schema: { type: 'string' } } } } },
    schema: undefined
  },
  {
    title: 'JSON or another media type, no output schema',
    response: {
      200: { content: { 'application/json': { schema: object }, 'text/csv': { schema: { type: 'string' } } } }
    },
    schema: undefined
  }
]

for (const { title, response, schema, shared = {} } of outputs) {
  t.test(title, async (t) => {
    const tool = toolOf({ schema: { response }, shared })
    t.strictSame(tool.public.outputSchema, schema)
    t.strictSame(definitionOf(tool, 'legacy').outputSchema, schema)
  })
}

t.test('what no call may have empty is published so', async (t) => {
  const properties = (from: Route): unknown => toolOf(from).public.inputSchema.properties
  t.strictSame(
    properties({
      url: '/:a/:b/:c/:d/:e?',
      schema: {
        params: {
          type: 'object',
          properties: {
            b: { type: 'string', minLength: 3 },
            c: { type: 'string', enum: ['x'] },
            d: { type: 'integer' }
          }
        }
      }
    }),
    {
      a: { type: 'string', minLength: 1 },
      b: { type: 'string', minLength: 3 },
      c: { type: 'string', enum: ['x'] },
      d: { type: 'integer' },
      e: { type: 'string', minLength: 1 }
    }
  )
  t.strictSame(
    properties({
      schema: {
        querystring: {
          type: 'object',
          properties: {
            a: { type: 'array', minItems: 2 },
            b: { type: 'array', default: [] },
            c: { type: 'array', default: ['x'] },
            d: { anyOf: [{ type: 'string' }, { type: 'array' }] },
            e: {}
          }
        }
      }
    }),
    {
      a: { type: 'array', minItems: 2, items: {} },
      b: { type: 'array', default: [], items: {} },
      c: { type: 'array', default: ['x'], minItems: 1, items: {} },
      d: { anyOf: [{ type: 'string' }, { type: 'array', items: {} }], minItems: 1 },
      e: {}
    }
  )
})

t.test('a description without a full stop gets one before the sentence on large results', async (t) => {
  for (
    const [description, said] of [['List things', 'List things.'], ['List things. ', 'List things. '], [
      'What is there?',
      'What is there?'
    ], ['Things:', 'Things:']] as const
  ) {
    t.equal(
      toolOf({ schema: { description, tags: ['mcp', 'large'] } }).public.description,
      `${said.trimEnd()} The result can be large.`
    )
  }
})

t.test('annotations follow the method, and all four are said', async (t) => {
  const hints = (method: string): unknown => toolOf({ method }).public.annotations
  t.strictSame(hints('GET'), { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false })
  t.strictSame(hints('POST'), {
    readOnlyHint: false,
    destructiveHint: false,
    idempotentHint: false,
    openWorldHint: false
  })
  t.strictSame(hints('PATCH'), {
    readOnlyHint: false,
    destructiveHint: true,
    idempotentHint: false,
    openWorldHint: false
  })
  t.strictSame(hints('PUT'), { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false })
  t.strictSame(hints('DELETE'), {
    readOnlyHint: false,
    destructiveHint: true,
    idempotentHint: true,
    openWorldHint: false
  })
})

t.test('of a hint that the host gives another follows, unless it is given as well', async (t) => {
  const hints = (method: string, annotations: Record<string, boolean>): unknown =>
    toolOf({ method, config: { mcp: { annotations } } }).public.annotations
  t.strictSame(hints('PUT', { readOnlyHint: true }), {
    readOnlyHint: true,
    destructiveHint: false,
    idempotentHint: true,
    openWorldHint: false
  })
  t.strictSame(hints('SEARCH', { readOnlyHint: true }), {
    readOnlyHint: true,
    destructiveHint: false,
    idempotentHint: false,
    openWorldHint: false
  })
  t.strictSame(hints('GET', { readOnlyHint: false }), {
    readOnlyHint: false,
    destructiveHint: true,
    idempotentHint: true,
    openWorldHint: false
  })
  t.strictSame(hints('GET', { readOnlyHint: false, destructiveHint: false }), {
    readOnlyHint: false,
    destructiveHint: false,
    idempotentHint: true,
    openWorldHint: false
  })
})

t.test('what a trusted serializer writes is promised with all items of a tuple', async (t) => {
  const at = { type: 'array', prefixItems: [{ type: 'string' }], items: { type: 'number' } }
  const { public: { outputSchema = {} } } = toolFromRoute(
    route({ schema: { response: { 200: { type: 'object', properties: { at } } } } }),
    { ...OPTIONS, trustSerializer: true }
  )
  // A client that does not know prefixItems would hold all items to what is said of the rest.
  t.strictSame(outputSchema, {
    type: 'object',
    properties: { at: { type: 'array', prefixItems: [{ type: 'string' }] } }
  })
  t.ok(new Ajv2020({ strict: false }).validate(outputSchema, { at: ['a', 1, 2] }))
  t.notOk(new Ajv2020({ strict: false }).validate(outputSchema, { at: [1] }))
})

t.test('config.mcp says more than the schema', async (t) => {
  const config = {
    mcp: { title: 'Search', description: 'For the model.', annotations: { readOnlyHint: true }, examples: [{ q: 'x' }] }
  }
  const exposed = route({
    method: 'POST',
    config,
    schema: { body: { type: 'object', properties: { q: { type: 'string' } } } }
  })
  const { public: tool } = toolFromRoute(exposed, OPTIONS)
  t.strictSame(tool, {
    name: 'a_tool',
    title: 'Search',
    description: 'For the model.',
    inputSchema: { ...closed({ q: { type: 'string' } }), examples: [{ q: 'x' }] },
    annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: false, openWorldHint: false },
    route: { method: 'POST', url: '/things', tags: ['mcp'], schema: exposed.schema, config }
  })
})

t.test('the summary is the title when there is a description, and the description when there is none', async (t) => {
  t.match(toolOf({ schema: { summary: 'Things', description: 'Lists things.' } }).public, {
    title: 'Things',
    description: 'Lists things.'
  })
  const { public: tool } = toolFromRoute(
    { ...route({}), schema: { operationId: 'a', summary: 'Lists things.' } },
    OPTIONS
  )
  t.equal(tool.description, 'Lists things.')
  t.equal(tool.title, undefined)
})

t.test('a summary beside a description is the title, also if it repeats the name', async (t) => {
  const titleOf = (schema: object): unknown =>
    toolOf({ schema: { operationId: 'get_product', ...schema } }).public.title
  for (const summary of ['Get a product', 'Product, get']) t.equal(titleOf({ summary, description: 'D.' }), summary)
  t.equal(titleOf({ summary: 'Get a product', description: undefined }), undefined)
})

t.test('a large tool is marked, and says what narrows it', async (t) => {
  const querystring = {
    type: 'object',
    properties: {
      skip: { type: 'integer' },
      limit: { type: 'integer' },
      filter: { type: 'object' },
      sort: { type: 'string' }
    }
  }
  t.match(toolOf({ schema: { tags: ['mcp', 'large'], querystring } }).public, {
    description: 'A tool. The result can be large: narrow it with skip, limit or filter.',
    _meta: { 'mcp-from-routes/large': true, 'anthropic/maxResultSizeChars': 500_000 }
  })
  const saysOf = (...names: readonly string[]): unknown =>
    toolOf({
      schema: {
        tags: ['mcp', 'large'],
        querystring: { type: 'object', properties: Object.fromEntries(names.map((name) => [name, {}])) }
      }
    }).public.description
  t.equal(saysOf('q', 'limit'), 'A tool. The result can be large: narrow it with q or limit.')
  t.equal(saysOf('q'), 'A tool. The result can be large: narrow it with q.')
  t.equal(saysOf(), 'A tool. The result can be large.')
  t.equal(toolOf({ schema: { querystring } }).public._meta, undefined)
})

t.test('a definition is frozen and shares nothing with the schemas of the host', async (t) => {
  const body = { type: 'object', properties: { a: { type: 'string', enum: ['x'] } } }
  const { public: tool } = toolOf({ method: 'POST', schema: { body } })
  t.ok(Object.isFrozen(tool))
  t.throws(() => {
    Reflect.get(Object(tool.inputSchema.properties).a, 'enum').push('y')
  })
  body.properties.a.enum.push('z')
  t.strictSame(Object(tool.inputSchema.properties).a.enum, ['x'])
})

const refusals: Array<{ title: string, from: Route, code: string, message: RegExp }> = [
  {
    title: 'no operationId',
    from: { schema: { operationId: '' } },
    code: 'NO_OPERATION_ID',
    message: /^GET \/things is tagged mcp but has no operationId\. Add schema\.operationId/
  },
  {
    title: 'a name some client refuses',
    from: { schema: { operationId: 'things.list' } },
    code: 'INVALID_NAME',
    message: /^GET \/things has the operationId "things\.list"\. A tool name has 1 to 64 letters/
  },
  {
    title: 'a name that is too long',
    from: { schema: { operationId: 'x'.repeat(65) } },
    code: 'INVALID_NAME',
    message: /1 to 64 letters/
  },
  {
    title: 'no description',
    from: { schema: { description: '' } },
    code: 'NO_DESCRIPTION',
    message: /^GET \/things has no description/
  },
  {
    title: 'one name in path and query string',
    from: { url: '/things/:id', schema: { querystring: Type.Object({ id: Type.String() }) } },
    code: 'NAME_CLASH',
    message: /^GET \/things\/:id has two inputs named id \(path and query\)/
  },
  {
    title: 'one name in query string and body',
    from: {
      method: 'POST',
      schema: { querystring: Type.Object({ a: Type.String() }), body: Type.Object({ a: Type.String() }) }
    },
    code: 'NAME_CLASH',
    message: /two inputs named a \(query and body\)/
  },
  {
    title: 'the argument body beside a query parameter of that name',
    from: { method: 'POST', schema: { querystring: Type.Object({ body: Type.String() }), body: { type: 'array' } } },
    code: 'NAME_CLASH',
    message: /two inputs named body/
  },
  {
    title: 'a wildcard that is part of a segment',
    from: { url: '/files*' },
    code: 'UNSUPPORTED_ROUTE',
    message: /^GET \/files\* cannot be a tool: its wildcard is not the last segment of its path/
  },
  {
    title: 'several methods',
    from: { method: ['GET', 'POST'] },
    code: 'UNSUPPORTED_ROUTE',
    message: /^GET,POST \/things cannot be a tool: it has several methods/
  },
  { title: 'a websocket', from: { websocket: true }, code: 'UNSUPPORTED_ROUTE', message: /takes the connection over/ },
  {
    title: 'a hijacked reply that is told of',
    from: { config: { mcp: { hijack: true } } },
    code: 'UNSUPPORTED_ROUTE',
    message: /takes the connection over/
  },
  {
    title: 'an unknown constraint',
    from: { constraints: { secret: 'x' } },
    code: 'UNSUPPORTED_ROUTE',
    message:
      /it has the custom constraint secret, which a tool call cannot meet\. Do not publish it, or remove the constraint$/
  },
  {
    title: 'a header that is never sent',
    from: { schema: { headers: Type.Object({ 'X-Tenant': Type.String(), authorization: Type.String() }) } },
    code: 'UNSUPPORTED_ROUTE',
    message:
      /^GET \/things cannot be a tool: it requires the header x-tenant\. Add it to forwardHeaders, or give it a value in config\.mcp\.arguments\.headers, or make it an argument: config\.mcp\.arguments: \{"headers":\{"x-tenant":\{"name":"x_tenant"\}\}\}$/
  },
  {
    title: 'a multipart body',
    from: { method: 'POST', schema: { consumes: ['multipart/form-data'], body: Type.Object({ a: Type.String() }) } },
    code: 'UNSUPPORTED_ROUTE',
    message: /^POST \/things cannot be a tool: it takes multipart\/form-data/
  },
  {
    title: 'a body that is never JSON',
    from: { method: 'POST', schema: { body: { content: { 'application/octet-stream': { schema: {} } } } } },
    code: 'UNSUPPORTED_ROUTE',
    message: /it takes application\/octet-stream/
  },
  {
    title: 'a file in the body',
    from: { method: 'POST', schema: { body: { type: 'object', properties: { picture: { isFile: true } } } } },
    code: 'UNSUPPORTED_ROUTE',
    message: /it takes a file upload/
  },
  {
    title: 'a file in a shared schema of the body',
    from: {
      method: 'POST',
      shared: { File: { $id: 'File', type: 'object', isFile: true } },
      schema: { body: { type: 'object', properties: { picture: { $ref: 'File#' } } } }
    },
    code: 'UNSUPPORTED_ROUTE',
    message: /it takes a file upload/
  },
  {
    title: 'a file as the ajvFilePlugin of @fastify/multipart leaves it',
    from: {
      method: 'POST',
      schema: { body: { type: 'object', properties: { picture: { type: 'string', format: 'binary' } } } }
    },
    code: 'UNSUPPORTED_ROUTE',
    message: /it takes a file upload/
  },
  {
    title: 'a body whose bytes are signed',
    from: { method: 'POST', config: { rawBody: true } },
    code: 'UNSUPPORTED_ROUTE',
    message: /checks the bytes of its body/
  },
  {
    title: 'a $ref that leads nowhere',
    from: { method: 'POST', schema: { body: { $ref: 'Nope#' } } },
    code: 'INVALID_SCHEMA',
    message: /^POST \/things has a schema that cannot be published: body: \$ref "Nope#" leads nowhere/
  },
  {
    title: 'a $ref that leads nowhere in an answer',
    from: { schema: { response: { 200: { $ref: 'Nope#' } } } },
    code: 'INVALID_SCHEMA',
    message: /response 200: \$ref "Nope#" leads nowhere/
  },
  {
    title: 'a type that is none',
    from: { method: 'POST', schema: { body: Type.Object({ at: Type.Date() }) } },
    code: 'INVALID_SCHEMA',
    message: /body: type "Date" is not a JSON Schema type/
  },
  {
    title: 'a type that JSON lacks, with what to write instead',
    from: { method: 'POST', schema: { body: z.object({ at: z.coerce.date() }) } },
    code: 'INVALID_SCHEMA',
    message:
      /body: it cannot be converted to JSON Schema: Date cannot be represented in JSON Schema\. JSON has no dates\. Describe a string with the format date-time and convert it: in Zod z\.iso\.datetime\(\)/
  },
  {
    title: 'another one',
    from: { method: 'POST', schema: { body: z.object({ of: z.map(z.string(), z.bigint()) }) } },
    code: 'INVALID_SCHEMA',
    message:
      /Map cannot be represented in JSON Schema\. JSON has no maps\. Describe an object with additionalProperties: in Zod z\.record\(\)$/
  },
  {
    title: 'a transform whose result is not described',
    from: { schema: { response: { 200: z.string().transform((text) => text.length) } } },
    code: 'INVALID_SCHEMA',
    message: /response 200: .*Say what the transform returns: in Zod \.pipe\(z\.string\(\)\) after it$/
  },
  {
    title: 'a schema of another library',
    from: { method: 'POST', schema: { body: { '~standard': { version: 1, vendor: 'x', validate () {} } } } },
    code: 'INVALID_SCHEMA',
    message: /not JSON Schema and cannot convert itself/
  },
  ...[null, 'x', { jsonSchema: null }, { jsonSchema: { input: {} } }].map((standard): typeof refusals[number] => ({
    title: `a schema of ${JSON.stringify(standard)}`,
    from: { method: 'POST', schema: { body: { '~standard': standard } } },
    code: 'INVALID_SCHEMA',
    message: /not JSON Schema and cannot convert itself/
  })),
  ...['x', 5].map((body): typeof refusals[number] => ({
    title: `a body of ${JSON.stringify(body)}`,
    from: { method: 'POST', schema: { body } as FastifySchema },
    code: 'INVALID_SCHEMA',
    message: /it is not a JSON Schema object/
  })),
  {
    title: 'a schema that fails to convert itself',
    from: {
      method: 'POST',
      schema: {
        body: {
          '~standard': {
            version: 1,
            vendor: 'x',
            jsonSchema: {
              input: () => {
                throw new Error('Cannot read properties of undefined')
              },
              output: () => ({})
            }
          }
        }
      }
    },
    code: 'INVALID_SCHEMA',
    message:
      /^POST \/things has a schema that cannot be published: body: it cannot be converted to JSON Schema: Cannot read properties of undefined$/
  },
  {
    title: 'a parameter that is not in the path',
    from: { url: '/things/:id', schema: { params: Type.Object({ thing_id: Type.String() }) } },
    code: 'INVALID_SCHEMA',
    message: /params describes thing_id, which is not in the path/
  },
  {
    title: 'a path parameter that is an array',
    from: { url: '/things/:ids', schema: { params: Type.Object({ ids: Type.Array(Type.String()) }) } },
    code: 'INVALID_SCHEMA',
    message: /the path parameter ids is an array/
  },
  {
    title: 'a query string that requires what it does not describe',
    from: { schema: { querystring: { type: 'object', properties: { a: {} }, required: ['q'] } } },
    code: 'INVALID_SCHEMA',
    message:
      /^GET \/things has a schema that cannot be published: querystring requires q, which is not among its properties\. Describe it there$/
  },
  {
    title: 'a query string with alternatives',
    from: {
      schema: {
        querystring: { type: 'object', anyOf: [{ required: ['a'] }, { required: ['b'] }], properties: { a: {}, b: {} } }
      }
    },
    code: 'INVALID_SCHEMA',
    message: /querystring is not an object with a fixed list of properties/
  }
]

for (const { title, from, code, message } of refusals) {
  t.test(`refused at boot: ${title}`, async (t) => {
    t.throws(() => toolOf(from), { code: `MCP_FROM_ROUTES_${code}`, message })
  })
}
