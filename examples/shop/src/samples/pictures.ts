import { createHash } from 'node:crypto'
import { slugFromName } from '../records/slug.ts'
import { productsOf, type DemoProduct } from './products.ts'
import { demoShops } from './shops.ts'

/*
 * The pictures of the demo's products: what a product is, in its color. They depend on nothing but its name.
 */

const COLORS: Readonly<Record<string, string>> = {
  Slate: '#5d6b7a',
  Moss: '#6b7f3f',
  Rust: '#a8512d',
  Midnight: '#27304f',
  Sand: '#d3b98c',
  Copper: '#b8693a',
  Cream: '#f1e6cc',
  Charcoal: '#3c3f44',
  Sage: '#8fa287',
  Cobalt: '#2450a4',
  Ivory: '#f3eddd',
  Indigo: '#3b3f8f',
  Vermilion: '#d9452b',
  Forest: '#2f5d43',
  Ochre: '#c98a26'
}

/** What is behind light and dark products. */
const BEHIND = { light: '#747c8a', dark: '#f3f1ec' }

const DIM = 'fill="#000" fill-opacity=".22" stroke="none"'
const LIT = 'fill="#fff" fill-opacity=".4" stroke="none"'
const LINE = 'fill="none" stroke="currentColor" stroke-linecap="round"'

/**
 * Outlines by what a product is, in a square of 96, each for the words of names that it fits. The first one is drawn.
 */
const OUTLINES: ReadonlyArray<readonly [words: RegExp, outline: string]> = [
  [
    /kettle|teapot/,
    `<path d="M27 45h38l6 30a5 5 0 0 1-5 5H26a5 5 0 0 1-5-5z"/><path ${LINE} stroke-width="5" d="M66 66c11-4 ` +
    `5-25 16-28M31 43c0-22 30-22 30 0"/><circle cx="46" cy="40" r="4"/><path ${DIM} d="M23 66h46l2 9a5 5 0 0 ` +
    '1-5 5H26a5 5 0 0 1-5-5z"/>'
  ],
  [
    /mug|cup/,
    `<path d="M24 28h40v40a10 10 0 0 1-10 10H34a10 10 0 0 1-10-10z"/><path ${LINE} stroke-width="6" d="M64 ` +
    `38h5a10 10 0 0 1 0 22h-5"/><ellipse ${DIM} cx="44" cy="29" rx="19" ry="4"/>`
  ],
  [
    /\bpress|moka|grinder/,
    '<path d="M30 34h34v42a4 4 0 0 1-4 4H34a4 4 0 0 1-4-4z"/><path d="M28 26h38v8H28zM45 12h4v14h-4z"/><circle ' +
    `cx="47" cy="13" r="5"/><path ${LINE} stroke-width="5" d="M64 42h9v24h-9"/><path ${DIM} d="M30 56h34v20a4 4 ` +
    '0 0 1-4 4H34a4 4 0 0 1-4-4z"/>'
  ],
  [
    /carafe|bottle|ink /,
    `<path d="M39 16h18v14c0 7 11 9 11 22v23a6 6 0 0 1-6 6H34a6 6 0 0 1-6-6V52c0-13 11-15 11-22z"/><path ${DIM} ` +
    'd="M28 56h40v19a6 6 0 0 1-6 6H34a6 6 0 0 1-6-6zM39 16h18v7H39z"/>'
  ],
  [
    /dripper|whisk/,
    `<path d="M20 28h56L58 62H38z"/><path d="M32 66h32v6H32z"/><path ${DIM} d="M20 28h56l-3 6H23zM44 ` +
    '40h3v20h-3zM52 40h3l-2 20h-3z"/>'
  ],
  [
    /beans|ethiopia|colombia|assam|dry bag|cover|cartridges/,
    `<path d="M28 24h40l4 50a6 6 0 0 1-6 6H30a6 6 0 0 1-6-6z"/><path ${DIM} d="M28 18h40v10H28z"/><circle ` +
    `${LIT} cx="48" cy="54" r="12"/>`
  ],
  [
    /bowl|plate/,
    `<path d="M12 42h72c0 22-14 36-36 36S12 64 12 42z"/><ellipse ${DIM} cx="48" cy="42" rx="36" ry="6"/><path ` +
    `${LIT} d="M22 52h4c2 8 5 12 9 16-8-3-12-8-13-16z"/>`
  ],
  [
    /sauce?pan|skillet|braiser|oven|pot set|stove|tin/,
    `<path d="M16 40h56v20a14 14 0 0 1-14 14H30a14 14 0 0 1-14-14z"/><path d="M72 42h14v6H72z"/><path ${DIM} ` +
    `d="M12 36h64v6H12z"/><path ${LIT} d="M24 48h4v14h-4z"/>`
  ],
  [
    /knife|scissors/,
    `<path d="M36 58 76 16c6 14 0 28-14 38L46 68z"/><path ${DIM} d="m36 58 10 10-20 18-12-10z"/><path d="m36 58 ` +
    '10 10-20 18-12-10z" fill-opacity=".6"/>'
  ],
  [
    /pen\b|rollerball|pencils|poles/,
    `<path d="M18 72 62 28l8 8-44 44-12 4z"/><path d="m65 25 6-6 8 8-6 6z"/><path ${DIM} d="M18 72l8 8-12 4z"/>`
  ],
  [
    /jacket|shell|tee|leggings|fleece/,
    `<path d="M36 20h24l20 14-8 16-8-4v34H32V46l-8 4-8-16z"/><path ${DIM} d="M36 20h24c-2 12-22 12-24 0zM46 ` +
    '32h4v48h-4z"/>'
  ],
  [
    /socks/,
    `<path d="M38 16h22v36c0 6-2 9-6 12L38 76c-8 6-20-4-14-14l14-14z"/><path ${DIM} d="M38 16h22v8H38zM24 62l10 ` +
    '14c-8 4-16-6-10-14z"/>'
  ],
  [
    /backpack/,
    `<path d="M30 32a18 18 0 0 1 36 0v42a6 6 0 0 1-6 6H36a6 6 0 0 1-6-6z"/><path ${LINE} stroke-width="4" ` +
    `d="M40 16c0-8 16-8 16 0"/><path ${DIM} d="M36 54h24v18H36zM38 36h20v4H38z"/>`
  ],
  [/tent/, '<path d="M48 18 88 78H8z"/><path fill="#000" fill-opacity=".3" d="m48 40 14 38H34z"/>'],
  [
    /sleeping|liner/,
    '<path d="M14 56c0-14 12-22 26-20l40 8a8 8 0 0 1 6 8v10a8 8 0 0 1-6 8l-40 8c-14 2-26-8-26-22z"/><circle ' +
    `${DIM} cx="29" cy="57" r="11"/>`
  ],
  [
    /boot|shoe|slippers/,
    `<path d="M22 26h24v22c10 8 32 4 34 20v6H22z"/><path ${DIM} d="M22 68h58v8H22z"/><path ${LIT} d="M40 ` +
    '34h10v3H40zM40 42h10v3H40z"/>'
  ],
  [
    /pendant|cable/,
    `<path ${LINE} stroke-width="3" d="M48 8v26"/><path d="M48 32c24 0 32 18 32 30H16c0-12 8-30 ` +
    `32-30z"/><ellipse fill="#ffd76a" cx="48" cy="64" rx="12" ry="7"/><path ${DIM} d="M16 56h64v6H16z"/>`
  ],
  [
    /lamp|torch/,
    '<path d="M34 18h28l12 32H22z"/><path d="M45 50h6v24h-6zM32 74h32v6H32z"/><path fill="#ffd76a" ' +
    'fill-opacity=".8" d="M28 44h40l2 6H26z"/>'
  ],
  [
    /linocut/,
    '<path d="M20 14h56v68H20z"/><path fill="#fff" fill-opacity=".85" d="M27 21h42v54H27z"/><path d="M32 ' +
    '62c8-22 14 2 20-14s8 6 14-8v26H32z"/><circle cx="56" cy="33" r="5"/>'
  ],
  [
    /gift card|letterpress/,
    `<path d="M14 28h68v42H14z"/><path ${LIT} d="M14 40h68v8H14z"/><path ${DIM} d="M28 28h7v42h-7z"/>`
  ],
  [
    /tote/,
    `<path d="M24 38h48l4 42H20z"/><path ${LINE} stroke-width="5" d="M36 38c0-26 24-26 24 0"/><circle ${LIT} ` +
    'cx="48" cy="58" r="9"/>'
  ],
  [
    /notebook|journal|diary|calendar/,
    `<path d="M26 16h44a4 4 0 0 1 4 4v56a4 4 0 0 1-4 4H26z"/><path ${DIM} d="M26 16h8v64h-8z"/><path ${LIT} ` +
    'd="M42 30h24v10H42z"/>'
  ],
  [
    /mat|napkins|tape|towel/,
    `<path d="M18 34h50a10 10 0 0 1 0 20H18z"/><path d="M18 54h56v18H18z"/><circle ${DIM} cx="68" cy="44" r="6"/>`
  ],
  // A parcel.
  [
    /(?:)/,
    `<path d="M48 16 80 30v36L48 82 16 66V30z"/><path ${DIM} d="M48 46v36L16 66V30z"/><path ${LIT} d="m30 24 32 ` +
    '14v10l-4-2v-6L26 26z"/>'
  ]
]

/**
 * The products by the path of their picture. Anybody may request pictures, as often as they like: that costs no search.
 */
let products: ReadonlyMap<string, DemoProduct> | undefined

/**
 * @param file - the slug of the product, and `.svg`
 * @returns the picture of a product of the demo; undefined if there is none
 */
export function pictureOf (shop: string, file: string): string | undefined {
  products ??= new Map(
    demoShops.flatMap((one) =>
      productsOf(one).map((product) => [`${one.slug}/${pictureFile(product.name)}`, product] as const)
    )
  )
  const product = products.get(`${shop}/${file}`)
  return product && draw(product)
}

/** @returns the name of the file that has the picture of a product */
export function pictureFile (name: string): string {
  return `${slugFromName(name)}.svg`
}

function draw ({ name, color }: Pick<DemoProduct, 'name' | 'color'>): string {
  const [, outline] = OUTLINES.find(([words]) => words.test(name.toLowerCase()))!
  const choices = Object.values(COLORS)
  const fill = COLORS[color ?? ''] ?? choices[createHash('sha256').update(name).digest()[0]! % choices.length]!
  const behind = lightness(fill) > 0.75 ? BEHIND.light : BEHIND.dark
  return '<svg xmlns="http://www.w3.org/2000/svg" width="192" height="192" viewBox="0 0 96 96">' +
    `<path fill="${behind}" d="M0 0h96v96H0z"/><path fill="${fill}" fill-opacity=".16" d="M0 0h96v96H0z"/>` +
    `<g color="${fill}" fill="currentColor">${outline}</g></svg>\n`
}

/** @param color - as `#rrggbb` @returns from 0 to 1 */
function lightness (color: string): number {
  const [red, green, blue] = [1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16) / 255) as [
    number,
    number,
    number
  ]
  return 0.3 * red + 0.6 * green + 0.1 * blue
}
