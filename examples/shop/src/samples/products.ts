import type { AttributeValue } from '../catalog/attribute-values.ts'
import type { DemoModel, DemoShop } from './shops.ts'

/** A product of the demo: a model, or one of its variants. */
export interface DemoProduct {
  readonly name: string
  readonly model: DemoModel
  readonly values: Readonly<Record<string, AttributeValue>>
  readonly status: 'active' | 'draft' | 'archived'
  /** The variant; the colors of the shops are all different. */
  readonly color: string | undefined
}

/** @returns the products of a shop, in the order of their models */
export function productsOf ({ models, attributes }: DemoShop): readonly DemoProduct[] {
  return models.flatMap((model) => productsOfModel(model, attributes[0]!.name))
}

function productsOfModel (model: DemoModel, variantAttribute: string): readonly DemoProduct[] {
  const { name, values, variants } = model
  if (variants.length === 0) return [{ name, model, values, status: 'active', color: undefined }]
  return variants.map((variant, index) => ({
    name: `${name}, ${variant}`,
    model,
    values: { ...values, [variantAttribute]: variant },
    status: statusOf(model, index),
    color: variant
  }))
}

/** @param variant - its index */
function statusOf (model: DemoModel, variant: number): DemoProduct['status'] {
  if (variant === 4) return 'draft'
  return variant === 3 && model.price > 15_000 ? 'archived' : 'active'
}
