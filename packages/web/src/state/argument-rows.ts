import { objectOf } from './object-of.ts'

export interface ArgumentRow {
  readonly name: string
  readonly type: string
  readonly isRequired: boolean
  readonly description: string
}

type Schema = Readonly<Record<string, unknown>>

/** The arguments that a JSON schema of a tool names. Servers may write anything into it. */
export function argumentRows(schema: Schema): ArgumentRow[] {
  const required = Array.isArray(schema['required']) ? schema['required'] : []
  return Object.entries(objectOf(schema['properties'])).map(([name, value]) => {
    const property = objectOf(value)
    const { title, description } = property
    const text = [title, description].filter((each) => typeof each === 'string').join(': ')
    return { name, type: typeOf(property), isRequired: required.includes(name), description: text }
  })
}

function typeOf(schema: Schema): string {
  const { type, items } = schema
  if (Array.isArray(schema['enum'])) return 'one of a list'
  if (type === 'array') return `list of ${typeOf(objectOf(items))}`
  if (type === 'string') return 'text'
  if (Array.isArray(type)) return type.filter((each) => typeof each === 'string').join(' or ')
  return typeof type === 'string' ? type : 'anything'
}
