import type { AttributeRule, AttributeValue } from '../catalog/attribute-values.ts'

/** A shop of the demo profile, in the words that its owner would use. */
export interface DemoShop {
  readonly slug: string
  readonly name: string
  readonly currency: string
  /** What it set of its settings. */
  readonly settings: {
    readonly locale: string,
    readonly time_zone: string,
    readonly contact_email: string,
    readonly prices_include_tax: boolean
  }
  /** Names; an array below a name holds its subcategories. */
  readonly categories: Readonly<Record<string, readonly string[]>>
  readonly tags: readonly string[]
  readonly attributes: readonly DemoAttribute[]
  readonly models: readonly DemoModel[]
}

interface DemoAttribute extends Omit<AttributeRule, 'id'> {
  readonly name: string
  readonly unit?: string
}

/** A product line; each of its variants is one product. */
export interface DemoModel {
  readonly name: string
  readonly category: string
  /** Minor units. */
  readonly price: number
  readonly description: string
  readonly tags?: readonly string[]
  readonly values: Readonly<Record<string, AttributeValue>>
  /** Values of the shop's first attribute, the one that its products come in; none makes one product. */
  readonly variants: readonly string[]
}

const GIFTS: readonly DemoModel[] = [
  {
    name: 'Gift Card',
    category: 'Gifts',
    price: 5000,
    description: 'Sent by e-mail within minutes, valid for three years.',
    tags: ['Gift'],
    values: {},
    variants: []
  },
  {
    name: 'Canvas Tote Bag',
    category: 'Gifts',
    price: 1800,
    description: 'Heavy organic cotton with long handles. Holds the week’s shopping.',
    tags: ['Gift', 'Organic'],
    values: {},
    variants: []
  }
]

export const demoShops: readonly DemoShop[] = [
  {
    slug: 'north-trail',
    name: 'North Trail Outfitters',
    currency: 'EUR',
    settings: {
      locale: 'de-DE',
      time_zone: 'Europe/Berlin',
      contact_email: 'hello@north-trail.example',
      prices_include_tax: true
    },
    categories: {
      Clothing: ['Jackets', 'Base Layers', 'Socks'],
      Equipment: ['Backpacks', 'Tents', 'Sleeping Bags', 'Cooking'],
      Footwear: [],
      Gifts: [],
      Sale: []
    },
    tags: ['New', 'Bestseller', 'Gift', 'Organic', 'Recycled', 'Waterproof', 'Ultralight'],
    attributes: [
      { name: 'Color', type: 'select', options: ['Slate', 'Moss', 'Rust', 'Midnight', 'Sand'] },
      { name: 'Weight', type: 'number', unit: 'g', options: [] },
      { name: 'Material', type: 'text', options: [] },
      { name: 'Waterproof', type: 'boolean', options: [] }
    ],
    models: [
      ...GIFTS,
      {
        name: 'Ridgeline Shell Jacket',
        category: 'Jackets',
        price: 28900,
        description: 'Three-layer shell for days that start dry and do not stay so. Pit zips, helmet hood.',
        tags: ['Waterproof', 'Bestseller'],
        values: { Weight: 410, Material: 'Recycled nylon', Waterproof: true },
        variants: ['Slate', 'Moss', 'Rust', 'Midnight']
      },
      {
        name: 'Fellwind Softshell',
        category: 'Jackets',
        price: 15900,
        description: 'Stretches on the climb, blocks the wind on the ridge.',
        values: { Weight: 380, Material: 'Polyester blend', Waterproof: false },
        variants: ['Slate', 'Moss', 'Midnight']
      },
      {
        name: 'Hoarfrost Down Jacket',
        category: 'Jackets',
        price: 24900,
        description: '800-fill down that packs into its own pocket.',
        tags: ['Ultralight'],
        values: { Weight: 320, Material: 'Down, recycled shell', Waterproof: false },
        variants: ['Slate', 'Rust', 'Midnight', 'Sand']
      },
      {
        name: 'Birch Merino Tee 150',
        category: 'Base Layers',
        price: 6900,
        description: 'Fine merino that stays fresh for a week of huts.',
        tags: ['Organic'],
        values: { Weight: 150, Material: 'Merino wool', Waterproof: false },
        variants: ['Slate', 'Moss', 'Rust', 'Midnight', 'Sand']
      },
      {
        name: 'Birch Merino Leggings 200',
        category: 'Base Layers',
        price: 8900,
        description: 'The warm layer under everything from November on.',
        tags: ['Organic'],
        values: { Weight: 210, Material: 'Merino wool', Waterproof: false },
        variants: ['Slate', 'Midnight']
      },
      {
        name: 'Cairn Hiking Socks',
        category: 'Socks',
        price: 1900,
        description: 'Padded where boots rub, thin where they do not.',
        tags: ['Bestseller'],
        values: { Weight: 70, Material: 'Merino blend', Waterproof: false },
        variants: ['Slate', 'Moss', 'Rust', 'Midnight', 'Sand']
      },
      {
        name: 'Cairn Liner Socks',
        category: 'Socks',
        price: 1400,
        description: 'Worn beneath the thick ones, they keep blisters away.',
        values: { Weight: 38, Material: 'Silk blend', Waterproof: false },
        variants: ['Slate', 'Midnight', 'Sand']
      },
      {
        name: 'Traverse 28 Backpack',
        category: 'Backpacks',
        price: 12900,
        description: 'A day pack with a back that breathes, and room for rope.',
        tags: ['Recycled'],
        values: { Weight: 890, Material: 'Recycled polyester', Waterproof: false },
        variants: ['Slate', 'Moss', 'Rust', 'Midnight']
      },
      {
        name: 'Traverse 45 Backpack',
        category: 'Backpacks',
        price: 17900,
        description: 'For three days out, with a hip belt that carries.',
        tags: ['Recycled', 'Bestseller'],
        values: { Weight: 1450, Material: 'Recycled polyester', Waterproof: false },
        variants: ['Slate', 'Moss', 'Midnight']
      },
      {
        name: 'Traverse 65 Backpack',
        category: 'Backpacks',
        price: 22900,
        description: 'Two weeks of food and a tent, and still a sensible shape.',
        tags: ['Recycled'],
        values: { Weight: 1890, Material: 'Recycled polyester', Waterproof: false },
        variants: ['Slate', 'Moss']
      },
      {
        name: 'Drizzle Pack Cover',
        category: 'Backpacks',
        price: 2900,
        description: 'Pulls over any pack of 25 to 50 litres in ten seconds.',
        tags: ['Waterproof', 'Ultralight'],
        values: { Weight: 85, Material: 'Coated nylon', Waterproof: true },
        variants: ['Slate', 'Rust', 'Sand']
      },
      {
        name: 'Lapwing One Tent',
        category: 'Tents',
        price: 34900,
        description: 'One person, one kilo, one pole.',
        tags: ['Ultralight', 'New'],
        values: { Weight: 990, Material: 'Ripstop nylon', Waterproof: true },
        variants: ['Moss', 'Sand']
      },
      {
        name: 'Lapwing Two Tent',
        category: 'Tents',
        price: 42900,
        description: 'Two doors, two porches, no arguments.',
        tags: ['Bestseller'],
        values: { Weight: 1780, Material: 'Ripstop nylon', Waterproof: true },
        variants: ['Moss', 'Sand', 'Rust']
      },
      {
        name: 'Lapwing Four Tent',
        category: 'Tents',
        price: 59900,
        description: 'A family, a dog and a wet Sunday fit inside.',
        values: { Weight: 4200, Material: 'Polyester', Waterproof: true },
        variants: ['Moss', 'Sand']
      },
      {
        name: 'Tarn Sleeping Bag 0°',
        category: 'Sleeping Bags',
        price: 19900,
        description: 'Comfortable to freezing, with a zip that does not catch.',
        values: { Weight: 980, Material: 'Synthetic fill', Waterproof: false },
        variants: ['Slate', 'Rust', 'Midnight']
      },
      {
        name: 'Tarn Sleeping Bag −10°',
        category: 'Sleeping Bags',
        price: 29900,
        description: 'For clear nights in March above the tree line.',
        values: { Weight: 1180, Material: 'Down', Waterproof: false },
        variants: ['Slate', 'Midnight']
      },
      {
        name: 'Tarn Silk Liner',
        category: 'Sleeping Bags',
        price: 5900,
        description: 'Adds four degrees and keeps the bag clean.',
        tags: ['Ultralight'],
        values: { Weight: 120, Material: 'Silk', Waterproof: false },
        variants: ['Slate', 'Rust', 'Sand']
      },
      {
        name: 'Ember Gas Stove',
        category: 'Cooking',
        price: 5400,
        description: 'Boils half a litre in three minutes, and simmers.',
        tags: ['Ultralight'],
        values: { Weight: 83, Material: 'Titanium', Waterproof: false },
        variants: []
      },
      {
        name: 'Ember Pot Set',
        category: 'Cooking',
        price: 6900,
        description: 'Two pots and a lid that is a pan.',
        values: { Weight: 420, Material: 'Hard-anodised aluminium', Waterproof: false },
        variants: []
      },
      {
        name: 'Kelp Insulated Bottle 750',
        category: 'Cooking',
        price: 3200,
        description: 'Hot tea at the summit, cold water at the hut.',
        tags: ['Gift', 'Bestseller'],
        values: { Weight: 360, Material: 'Stainless steel', Waterproof: true },
        variants: ['Slate', 'Moss', 'Rust', 'Midnight', 'Sand']
      },
      {
        name: 'Kelp Enamel Mug',
        category: 'Cooking',
        price: 1400,
        description: 'Chips with dignity.',
        tags: ['Gift'],
        values: { Weight: 130, Material: 'Enamelled steel', Waterproof: true },
        variants: ['Slate', 'Moss', 'Rust', 'Midnight', 'Sand']
      },
      {
        name: 'Scree Mid Boot',
        category: 'Footwear',
        price: 19900,
        description: 'Stiff enough for a pack, soft enough for the second day.',
        tags: ['Waterproof', 'Bestseller'],
        values: { Weight: 1120, Material: 'Leather', Waterproof: true },
        variants: ['Slate', 'Moss', 'Sand']
      },
      {
        name: 'Scree Low Shoe',
        category: 'Footwear',
        price: 14900,
        description: 'The boot’s sole under a shoe.',
        values: { Weight: 780, Material: 'Suede and mesh', Waterproof: false },
        variants: ['Slate', 'Moss', 'Rust', 'Sand']
      },
      {
        name: 'Runnel Trail Shoe',
        category: 'Footwear',
        price: 13900,
        description: 'Drains as fast as it fills.',
        tags: ['New'],
        values: { Weight: 560, Material: 'Mesh', Waterproof: false },
        variants: ['Slate', 'Rust', 'Midnight', 'Sand']
      },
      {
        name: 'Hut Felt Slippers',
        category: 'Footwear',
        price: 4900,
        description: 'So that the boots can stay at the door.',
        tags: ['Gift'],
        values: { Weight: 240, Material: 'Wool felt', Waterproof: false },
        variants: ['Slate', 'Moss', 'Rust']
      },
      {
        name: 'Lantern Head Torch 400',
        category: 'Equipment',
        price: 5900,
        description: '400 lumens, a red light, and a button that gloves can find.',
        values: { Weight: 88, Material: 'Polycarbonate', Waterproof: true },
        variants: ['Slate', 'Rust']
      },
      {
        name: 'Folding Trekking Poles',
        category: 'Equipment',
        price: 9900,
        description: 'Three sections, cork grips, a pair.',
        tags: ['Ultralight'],
        values: { Weight: 440, Material: 'Carbon', Waterproof: true },
        variants: ['Slate', 'Rust', 'Midnight']
      },
      {
        name: 'Dry Bag 13 L',
        category: 'Equipment',
        price: 1700,
        description: 'Roll, clip, sink.',
        tags: ['Waterproof'],
        values: { Weight: 62, Material: 'Coated nylon', Waterproof: true },
        variants: ['Slate', 'Moss', 'Rust', 'Midnight', 'Sand']
      },
      {
        name: 'Last Season Fleece',
        category: 'Sale',
        price: 4900,
        description: 'Nothing wrong with it but the year.',
        values: { Weight: 340, Material: 'Recycled fleece', Waterproof: false },
        variants: ['Slate', 'Moss', 'Rust', 'Midnight', 'Sand']
      }
    ]
  },
  {
    slug: 'copper-kettle',
    name: 'Copper Kettle',
    currency: 'USD',
    settings: {
      locale: 'en-US',
      time_zone: 'America/Chicago',
      contact_email: 'kitchen@copper-kettle.example',
      prices_include_tax: false
    },
    categories: {
      Coffee: ['Brewers', 'Grinders', 'Beans'],
      Tea: [],
      Cookware: ['Pans', 'Knives', 'Baking'],
      Tableware: [],
      Gifts: [],
      Sale: []
    },
    tags: ['New', 'Bestseller', 'Gift', 'Organic', 'Handmade', 'Dishwasher Safe'],
    attributes: [
      { name: 'Color', type: 'select', options: ['Copper', 'Cream', 'Charcoal', 'Sage', 'Cobalt'] },
      { name: 'Capacity', type: 'number', unit: 'ml', options: [] },
      { name: 'Material', type: 'text', options: [] },
      { name: 'Induction', type: 'boolean', options: [] }
    ],
    models: [
      ...GIFTS,
      {
        name: 'Gooseneck Kettle',
        category: 'Brewers',
        price: 8900,
        description: 'Pours as slowly as you can stand.',
        tags: ['Bestseller'],
        values: { Capacity: 900, Material: 'Stainless steel', Induction: true },
        variants: ['Copper', 'Cream', 'Charcoal', 'Sage']
      },
      {
        name: 'Pour-Over Dripper',
        category: 'Brewers',
        price: 2800,
        description: 'Ribbed porcelain cone for one or two cups.',
        tags: ['Handmade'],
        values: { Capacity: 400, Material: 'Porcelain', Induction: false },
        variants: ['Cream', 'Charcoal', 'Sage', 'Cobalt']
      },
      {
        name: 'French Press',
        category: 'Brewers',
        price: 4500,
        description: 'Double-walled, so the second cup is hot as well.',
        values: { Capacity: 1000, Material: 'Stainless steel', Induction: false },
        variants: ['Copper', 'Cream', 'Charcoal']
      },
      {
        name: 'Stovetop Moka Pot',
        category: 'Brewers',
        price: 3900,
        description: 'Six small cups of something serious.',
        tags: ['Gift'],
        values: { Capacity: 300, Material: 'Aluminium', Induction: false },
        variants: ['Copper', 'Charcoal', 'Cobalt']
      },
      {
        name: 'Cold Brew Carafe',
        category: 'Brewers',
        price: 3400,
        description: 'Steeps overnight in the fridge door.',
        tags: ['Dishwasher Safe'],
        values: { Capacity: 1200, Material: 'Borosilicate glass', Induction: false },
        variants: ['Cream', 'Charcoal', 'Sage']
      },
      {
        name: 'Hand Grinder',
        category: 'Grinders',
        price: 7900,
        description: 'Steel burrs, forty clicks, no motor.',
        tags: ['Bestseller'],
        values: { Capacity: 150, Material: 'Steel and walnut', Induction: false },
        variants: ['Copper', 'Charcoal', 'Sage']
      },
      {
        name: 'Electric Burr Grinder',
        category: 'Grinders',
        price: 16900,
        description: 'Quiet enough for six in the morning.',
        tags: ['New'],
        values: { Capacity: 350, Material: 'Aluminium', Induction: false },
        variants: ['Cream', 'Charcoal']
      },
      {
        name: 'House Espresso Beans 1 kg',
        category: 'Beans',
        price: 3200,
        description: 'Cocoa, hazelnut, and a long finish.',
        tags: ['Organic', 'Bestseller'],
        values: { Material: 'Arabica and robusta' },
        variants: []
      },
      {
        name: 'Washed Ethiopia 250 g',
        category: 'Beans',
        price: 1600,
        description: 'Bergamot and apricot; for filters.',
        tags: ['Organic'],
        values: { Material: 'Arabica' },
        variants: []
      },
      {
        name: 'Decaf Colombia 250 g',
        category: 'Beans',
        price: 1500,
        description: 'Sugar-cane process. All of the taste, all of the sleep.',
        tags: ['Organic'],
        values: { Material: 'Arabica' },
        variants: []
      },
      {
        name: 'Cast Iron Teapot',
        category: 'Tea',
        price: 6400,
        description: 'Enamelled inside, warm for an hour.',
        tags: ['Handmade', 'Gift'],
        values: { Capacity: 800, Material: 'Cast iron', Induction: false },
        variants: ['Copper', 'Charcoal', 'Sage', 'Cobalt']
      },
      {
        name: 'Glass Teapot with Infuser',
        category: 'Tea',
        price: 3600,
        description: 'Watch it open.',
        tags: ['Dishwasher Safe'],
        values: { Capacity: 1000, Material: 'Borosilicate glass', Induction: false },
        variants: ['Copper', 'Charcoal']
      },
      {
        name: 'Matcha Whisk Set',
        category: 'Tea',
        price: 2900,
        description: 'Whisk, scoop and stand, cut from one piece of bamboo.',
        tags: ['Handmade', 'Gift'],
        values: { Material: 'Bamboo' },
        variants: []
      },
      {
        name: 'Assam Loose Leaf 100 g',
        category: 'Tea',
        price: 1100,
        description: 'Malty, strong, and fond of milk.',
        tags: ['Organic'],
        values: { Material: 'Black tea' },
        variants: []
      },
      {
        name: 'Carbon Steel Skillet 26 cm',
        category: 'Pans',
        price: 6900,
        description: 'Gets better every year; so will you.',
        tags: ['Bestseller'],
        values: { Capacity: 1800, Material: 'Carbon steel', Induction: true },
        variants: []
      },
      {
        name: 'Tri-Ply Saucepan',
        category: 'Pans',
        price: 9900,
        description: 'Even heat to the rim, and a lip that pours.',
        tags: ['Dishwasher Safe'],
        values: { Capacity: 2000, Material: 'Tri-ply steel', Induction: true },
        variants: ['Copper', 'Charcoal']
      },
      {
        name: 'Enamelled Dutch Oven',
        category: 'Pans',
        price: 18900,
        description: 'Bread on Saturday, stew on Sunday.',
        tags: ['Bestseller', 'Gift'],
        values: { Capacity: 4700, Material: 'Cast iron', Induction: true },
        variants: ['Copper', 'Cream', 'Charcoal', 'Sage', 'Cobalt']
      },
      {
        name: 'Braiser 28 cm',
        category: 'Pans',
        price: 16900,
        description: 'Low, wide, and happy in the oven.',
        values: { Capacity: 3500, Material: 'Cast iron', Induction: true },
        variants: ['Copper', 'Cream', 'Sage', 'Cobalt']
      },
      {
        name: 'Chef’s Knife 20 cm',
        category: 'Knives',
        price: 12900,
        description: 'Full tang, 58 HRC, a handle that fits.',
        tags: ['Handmade', 'Bestseller'],
        values: { Material: 'Stainless steel' },
        variants: ['Charcoal', 'Sage']
      },
      {
        name: 'Paring Knife 9 cm',
        category: 'Knives',
        price: 4200,
        description: 'For what the big one is too big for.',
        values: { Material: 'Stainless steel' },
        variants: ['Charcoal', 'Sage']
      },
      {
        name: 'Bread Knife 24 cm',
        category: 'Knives',
        price: 7400,
        description: 'Serrations that cut crust, not corners.',
        values: { Material: 'Stainless steel' },
        variants: ['Charcoal', 'Sage']
      },
      {
        name: 'Loaf Tin',
        category: 'Baking',
        price: 2400,
        description: 'A kilo of dough, straight sides.',
        values: { Capacity: 2000, Material: 'Aluminised steel', Induction: false },
        variants: ['Copper', 'Charcoal']
      },
      {
        name: 'Mixing Bowl Set',
        category: 'Baking',
        price: 5200,
        description: 'Three that nest; one with a spout.',
        tags: ['Dishwasher Safe'],
        values: { Capacity: 4000, Material: 'Stoneware', Induction: false },
        variants: ['Cream', 'Charcoal', 'Sage', 'Cobalt']
      },
      {
        name: 'Silicone Baking Mat',
        category: 'Baking',
        price: 1900,
        description: 'Two thousand trays without paper.',
        tags: ['Dishwasher Safe'],
        values: { Material: 'Silicone' },
        variants: ['Charcoal', 'Sage']
      },
      {
        name: 'Stoneware Mug',
        category: 'Tableware',
        price: 1600,
        description: 'Thrown by hand, so no two hold quite the same.',
        tags: ['Handmade', 'Dishwasher Safe'],
        values: { Capacity: 320, Material: 'Stoneware', Induction: false },
        variants: ['Copper', 'Cream', 'Charcoal', 'Sage', 'Cobalt']
      },
      {
        name: 'Espresso Cup Pair',
        category: 'Tableware',
        price: 2200,
        description: 'Thick walls, thin rim.',
        tags: ['Gift', 'Dishwasher Safe'],
        values: { Capacity: 80, Material: 'Porcelain', Induction: false },
        variants: ['Copper', 'Cream', 'Charcoal', 'Sage', 'Cobalt']
      },
      {
        name: 'Dinner Plate',
        category: 'Tableware',
        price: 2100,
        description: '27 cm, reactive glaze.',
        tags: ['Dishwasher Safe'],
        values: { Material: 'Stoneware' },
        variants: ['Cream', 'Charcoal', 'Sage', 'Cobalt']
      },
      {
        name: 'Pasta Bowl',
        category: 'Tableware',
        price: 1900,
        description: 'Deep enough for seconds.',
        tags: ['Dishwasher Safe'],
        values: { Capacity: 900, Material: 'Stoneware', Induction: false },
        variants: ['Cream', 'Charcoal', 'Sage', 'Cobalt']
      },
      {
        name: 'Water Carafe',
        category: 'Tableware',
        price: 2900,
        description: 'With a glass for a lid.',
        values: { Capacity: 1000, Material: 'Recycled glass', Induction: false },
        variants: ['Sage', 'Cobalt']
      },
      {
        name: 'Linen Napkins, Set of 4',
        category: 'Tableware',
        price: 3800,
        description: 'Washed flax that needs no iron.',
        tags: ['Organic', 'Gift'],
        values: { Material: 'Linen' },
        variants: ['Cream', 'Charcoal', 'Sage', 'Cobalt']
      },
      {
        name: 'Second-Choice Mug',
        category: 'Sale',
        price: 700,
        description: 'A freckle in the glaze. Holds coffee all the same.',
        values: { Capacity: 320, Material: 'Stoneware', Induction: false },
        variants: ['Copper', 'Cream', 'Charcoal', 'Sage', 'Cobalt']
      }
    ]
  },
  {
    slug: 'paper-lantern',
    name: 'Paper Lantern',
    currency: 'GBP',
    settings: {
      locale: 'en-GB',
      time_zone: 'Europe/London',
      contact_email: 'desk@paper-lantern.example',
      prices_include_tax: true
    },
    categories: {
      Stationery: ['Notebooks', 'Pens', 'Ink'],
      Desk: [],
      Lighting: ['Table Lamps', 'Pendants'],
      Prints: [],
      Gifts: [],
      Sale: []
    },
    tags: ['New', 'Bestseller', 'Gift', 'Organic', 'Recycled', 'Limited'],
    attributes: [
      { name: 'Color', type: 'select', options: ['Ivory', 'Indigo', 'Vermilion', 'Forest', 'Ochre'] },
      { name: 'Pages', type: 'number', options: [] },
      { name: 'Material', type: 'text', options: [] },
      { name: 'Refillable', type: 'boolean', options: [] }
    ],
    models: [
      ...GIFTS,
      {
        name: 'Field Notebook A6',
        category: 'Notebooks',
        price: 650,
        description: 'Stitched, so it opens flat on a wall.',
        tags: ['Recycled', 'Bestseller'],
        values: { Pages: 64, Material: 'Recycled paper', Refillable: false },
        variants: ['Ivory', 'Indigo', 'Vermilion', 'Forest', 'Ochre']
      },
      {
        name: 'Dot Grid Notebook A5',
        category: 'Notebooks',
        price: 1450,
        description: '120 g paper that no fountain pen comes through.',
        tags: ['Bestseller'],
        values: { Pages: 192, Material: 'Acid-free paper', Refillable: false },
        variants: ['Ivory', 'Indigo', 'Vermilion', 'Forest', 'Ochre']
      },
      {
        name: 'Ruled Notebook A4',
        category: 'Notebooks',
        price: 1800,
        description: 'For the long version.',
        values: { Pages: 240, Material: 'Acid-free paper', Refillable: false },
        variants: ['Ivory', 'Indigo', 'Forest']
      },
      {
        name: 'Leather Journal Cover',
        category: 'Notebooks',
        price: 4800,
        description: 'Takes any A5 book, and ages better than most.',
        tags: ['Gift'],
        values: { Material: 'Vegetable-tanned leather', Refillable: true },
        variants: ['Indigo', 'Forest', 'Ochre']
      },
      {
        name: 'Desk Diary 2027',
        category: 'Notebooks',
        price: 2200,
        description: 'A week on two pages, holidays of nobody.',
        tags: ['New'],
        values: { Pages: 144, Material: 'Recycled paper', Refillable: false },
        variants: ['Ivory', 'Indigo', 'Vermilion', 'Forest']
      },
      {
        name: 'Piston Fountain Pen',
        category: 'Pens',
        price: 8900,
        description: 'A steel nib with spring, a window for the ink.',
        tags: ['Bestseller', 'Gift'],
        values: { Material: 'Resin', Refillable: true },
        variants: ['Ivory', 'Indigo', 'Vermilion', 'Forest']
      },
      {
        name: 'Pocket Fountain Pen',
        category: 'Pens',
        price: 3900,
        description: 'Small in the pocket, full-sized when posted.',
        values: { Material: 'Aluminium', Refillable: true },
        variants: ['Ivory', 'Indigo', 'Vermilion', 'Forest', 'Ochre']
      },
      {
        name: 'Gel Rollerball',
        category: 'Pens',
        price: 450,
        description: '0.5 mm, dries before your sleeve gets there.',
        values: { Material: 'Recycled plastic', Refillable: true },
        variants: ['Indigo', 'Vermilion', 'Forest']
      },
      {
        name: 'Brush Pen',
        category: 'Pens',
        price: 700,
        description: 'From hairline to headline.',
        values: { Material: 'Recycled plastic', Refillable: true },
        variants: ['Indigo', 'Vermilion', 'Ochre']
      },
      {
        name: 'Cedar Pencils, Box of 12',
        category: 'Pens',
        price: 1200,
        description: 'HB to 6B, in a tin that closes.',
        tags: ['Gift', 'Organic'],
        values: { Material: 'Cedar', Refillable: false },
        variants: []
      },
      {
        name: 'Bottled Ink 50 ml',
        category: 'Ink',
        price: 1350,
        description: 'Shades as it dries; washes out of cuffs.',
        tags: ['Bestseller'],
        values: { Material: 'Dye ink', Refillable: false },
        variants: ['Indigo', 'Vermilion', 'Forest', 'Ochre']
      },
      {
        name: 'Archive Ink 30 ml',
        category: 'Ink',
        price: 1600,
        description: 'Pigment that outlives its writer.',
        values: { Material: 'Pigment ink', Refillable: false },
        variants: ['Indigo', 'Forest']
      },
      {
        name: 'Ink Cartridges, Pack of 6',
        category: 'Ink',
        price: 350,
        description: 'Fit every pen here but the piston one.',
        values: { Material: 'Dye ink', Refillable: false },
        variants: ['Indigo', 'Vermilion', 'Forest', 'Ochre']
      },
      {
        name: 'Felt Desk Mat',
        category: 'Desk',
        price: 3200,
        description: 'Wool below the wrists, quiet below the keys.',
        tags: ['Organic'],
        values: { Material: 'Wool felt' },
        variants: ['Ivory', 'Indigo', 'Forest', 'Ochre']
      },
      {
        name: 'Letter Tray',
        category: 'Desk',
        price: 2600,
        description: 'Stacks, unlike letters.',
        values: { Material: 'Powder-coated steel' },
        variants: ['Ivory', 'Indigo', 'Vermilion', 'Forest', 'Ochre']
      },
      {
        name: 'Pen Rest',
        category: 'Desk',
        price: 1200,
        description: 'A stone from no river in particular, cast in brass.',
        tags: ['Gift'],
        values: { Material: 'Brass' },
        variants: []
      },
      {
        name: 'Washi Tape Trio',
        category: 'Desk',
        price: 850,
        description: 'Sticks, lifts, sticks again.',
        values: { Material: 'Washi paper' },
        variants: ['Indigo', 'Vermilion', 'Forest', 'Ochre']
      },
      {
        name: 'Brass Scissors',
        category: 'Desk',
        price: 2400,
        description: 'Cut straight for thirty years.',
        tags: ['Gift'],
        values: { Material: 'Steel and brass' },
        variants: []
      },
      {
        name: 'Washi Table Lamp',
        category: 'Table Lamps',
        price: 7900,
        description: 'Paper over bent bamboo; a soft light to read the end by.',
        tags: ['Bestseller'],
        values: { Material: 'Washi paper, bamboo' },
        variants: ['Ivory', 'Indigo', 'Vermilion', 'Ochre']
      },
      {
        name: 'Folding Book Lamp',
        category: 'Table Lamps',
        price: 5400,
        description: 'Opens like a book, shines for eight hours.',
        tags: ['Gift', 'New'],
        values: { Material: 'Tyvek, walnut', Refillable: true },
        variants: ['Ivory', 'Indigo', 'Forest', 'Ochre']
      },
      {
        name: 'Clamp Work Lamp',
        category: 'Table Lamps',
        price: 6900,
        description: 'Reaches the far corner of the drawing.',
        values: { Material: 'Steel' },
        variants: ['Ivory', 'Indigo', 'Vermilion', 'Forest']
      },
      {
        name: 'Round Paper Pendant 45 cm',
        category: 'Pendants',
        price: 3400,
        description: 'The moon, above the table.',
        tags: ['Bestseller'],
        values: { Material: 'Washi paper' },
        variants: ['Ivory', 'Indigo', 'Ochre']
      },
      {
        name: 'Pleated Pendant 60 cm',
        category: 'Pendants',
        price: 8900,
        description: 'Folded by hand from one sheet.',
        tags: ['Limited'],
        values: { Material: 'Washi paper' },
        variants: ['Ivory', 'Indigo', 'Vermilion']
      },
      {
        name: 'Textile Cable and Rose',
        category: 'Pendants',
        price: 1900,
        description: 'Three metres, for any shade here.',
        values: { Material: 'Cotton, brass' },
        variants: ['Ivory', 'Indigo', 'Vermilion', 'Forest', 'Ochre']
      },
      {
        name: 'Linocut: Heron',
        category: 'Prints',
        price: 4500,
        description: 'Hand-pulled, signed, an edition of 150.',
        tags: ['Limited'],
        values: { Material: 'Kozo paper' },
        variants: ['Indigo', 'Vermilion', 'Forest']
      },
      {
        name: 'Linocut: Harbour',
        category: 'Prints',
        price: 4500,
        description: 'Hand-pulled, signed, an edition of 150.',
        tags: ['Limited'],
        values: { Material: 'Kozo paper' },
        variants: ['Indigo', 'Vermilion', 'Ochre']
      },
      {
        name: 'Risograph Calendar',
        category: 'Prints',
        price: 1800,
        description: 'Twelve postcards that happen to have dates.',
        tags: ['New', 'Recycled'],
        values: { Pages: 12, Material: 'Recycled paper' },
        variants: []
      },
      {
        name: 'Letterpress Cards, Set of 8',
        category: 'Prints',
        price: 1600,
        description: 'Blank inside; you know what to say.',
        tags: ['Gift', 'Organic'],
        values: { Material: 'Cotton paper' },
        variants: ['Ivory', 'Indigo', 'Vermilion', 'Forest']
      },
      {
        name: 'Seconds Notebook A5',
        category: 'Sale',
        price: 700,
        description: 'The stitching wandered; the paper is the same.',
        values: { Pages: 192, Material: 'Acid-free paper', Refillable: false },
        variants: ['Ivory', 'Indigo', 'Vermilion', 'Forest', 'Ochre']
      }
    ]
  }
]
