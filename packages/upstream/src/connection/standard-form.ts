import { inspectJson, isObject, resolveReference } from '@mcp-host/json'

type Schema = Readonly<Record<string, unknown>>

/** The parameters of an elicitation, and the way from an answer to one with the values that the server asked for. */
interface StandardForm {
  readonly params: unknown
  readonly restore: (answer: unknown) => unknown
}

interface Field {
  readonly schema: Schema
  readonly isNullable: boolean
  readonly restore: (value: unknown) => unknown
}

interface Flat {
  readonly schema: Schema
  readonly isNullable: boolean
}

type Flatten = (given: unknown) => Flat

interface Choices {
  readonly titled: readonly { readonly const: string; readonly title: string }[]
  readonly restore: (value: unknown) => unknown
}

/** The depth of the schemas of a form, with those behind references. */
const MAX_DEPTH = 20
/** Limit for the bytes of all converted fields of a form. A schema that fields refer to counts for each of them. */
const MAX_BYTES = 100_000
/** Each schema that is flattened, and each use of one or value in a field, also counts as so many bytes. */
const SCHEMA_BYTES = 20
const VALUE_BYTES = 10
const TYPES: ReadonlySet<unknown> = new Set(['string', 'number', 'integer', 'boolean', 'array'])
const FORMATS: ReadonlySet<unknown> = new Set([undefined, 'email', 'uri', 'date', 'date-time'])
const ANYTHING: Flat = { schema: {}, isNullable: false }
const TEXTS = ['title', 'description']
const LIMITS = ['minimum', 'maximum', 'minLength', 'maxLength', 'minItems', 'maxItems']
const CHOICES = ['enum', 'enumNames', 'oneOf', 'anyOf', 'const']
const OTHERS = ['type', 'format', 'default', 'items', 'properties', 'required']
/** The keywords that forms have. Others are left out, since schemas are copied for each reference to them. */
const KEYWORDS = [...TEXTS, ...LIMITS, ...CHOICES, ...OTHERS]

/**
 * Converts the form of an elicitation, as schema makers write it, to a flat form that MCP allows: without references,
 * `null`, lists of types, and choices that are no text. Fields that MCP allows stay as they are, and so do forms that are
 * too large to be flattened, which the SDK refuses.
 */
export function standardForm(params: unknown): StandardForm {
  const same: StandardForm = { params, restore: (answer) => answer }
  if (!isObject(params) || params['mode'] === 'url') return same
  const { requestedSchema: root = {} } = params
  if (!isObject(root)) return same
  const { flatten, isTooLarge } = flattenIn(root)
  const given = '$ref' in root ? flatten(root).schema : root
  const properties = Object.entries(isObject(given['properties']) ? given['properties'] : {})
  const odd = new Map<string, Field>(
    properties.flatMap(([name, schema]) =>
      isStandard(schema) || isTooLarge() ? [] : [[name, toField(schema, flatten)]],
    ),
  )
  if (isTooLarge()) return same
  if (odd.size === 0 && given === root && isObject(root['properties'])) return same
  const required = Array.isArray(given['required']) ? given['required'] : []
  const requestedSchema = {
    ...given,
    type: 'object',
    properties: Object.fromEntries(
      properties.map(([name, schema]) => [name, odd.get(name)?.schema ?? schema]),
    ),
    required: required.filter((name) => odd.get(name)?.isNullable !== true),
  }
  const restored = (content: Schema): Schema => {
    const values = Object.entries(content).map(([name, value]) => {
      const field = odd.get(name)
      return [name, field === undefined ? value : field.restore(value)]
    })
    const empty = required.flatMap((name) =>
      odd.get(name)?.isNullable === true ? [[name, null]] : [],
    )
    return Object.fromEntries([...empty, ...values])
  }
  return {
    params: { ...params, requestedSchema },
    restore: (answer) =>
      isObject(answer) && answer['action'] === 'accept'
        ? { ...answer, content: restored(isObject(answer['content']) ? answer['content'] : {}) }
        : answer,
  }
}

function isStandard(schema: unknown): boolean {
  if (!isObject(schema)) return false
  const { type, format, default: preset } = schema
  if (!TYPES.has(type) || !FORMATS.has(format) || !isDefault(preset, type)) return false
  if (['$ref', 'allOf', 'anyOf', 'const'].some((key) => Object.hasOwn(schema, key))) return false
  if (type === 'array') return isListOfTexts(schema['items'])
  return type === 'string' ? isListOfTexts(schema, true) : !('enum' in schema || 'oneOf' in schema)
}

function isDefault(preset: unknown, type: unknown): boolean {
  if (preset === undefined) return true
  if (type === 'array') return Array.isArray(preset)
  return typeof preset === (type === 'integer' ? 'number' : type)
}

/** Whether the choices, if there are any, are texts with titles. */
function isListOfTexts(schema: unknown, mayBeFree = false): boolean {
  if (!isObject(schema) || '$ref' in schema) return false
  const { enum: values, oneOf, anyOf = oneOf } = schema
  if (Array.isArray(values)) return values.every((value) => typeof value === 'string')
  if (!Array.isArray(anyOf)) return mayBeFree
  const isText = (value: unknown): boolean => typeof value === 'string'
  return anyOf.every((each) => isObject(each) && isText(each['const']) && isText(each['title']))
}

/** Resolves references and `null` of the schemas in a form. */
function flattenIn(root: Schema): { flatten: Flatten; isTooLarge: () => boolean } {
  let left = MAX_BYTES
  const known = new Map<Schema, Flat>()
  const flattened = (given: unknown, depth: number): Flat => {
    left -= VALUE_BYTES
    if (!isObject(given) || depth > MAX_DEPTH || left < 0) return ANYTHING
    const flat = known.get(given)
    if (flat !== undefined) return flat
    left -= SCHEMA_BYTES
    // References may be circular.
    known.set(given, ANYTHING)
    const made = merged(given, depth)
    known.set(given, made)
    return made
  }
  const merged = (given: Schema, depth: number): Flat => {
    const { $ref, allOf } = given
    const own = pick(given, KEYWORDS, () => true)
    const bases = [
      ...(typeof $ref === 'string' ? [resolveReference(root, $ref)] : []),
      ...(Array.isArray(allOf) ? allOf : []),
    ].map((each) => flattened(each, depth + 1))
    const all: Record<string, unknown> = {}
    for (const { schema } of bases) Object.assign(all, schema)
    Object.assign(all, own)
    const { anyOf, oneOf = anyOf, type: types, ...others } = all
    const parts = (Array.isArray(oneOf) ? oneOf : []).map((each) => flattened(each, depth + 1))
    const kept = parts.filter((part) => !isNull(part)).map(({ schema }) => schema)
    const type = [types].flat().find((each) => each !== 'null')
    const typed = type === undefined ? others : { ...others, type }
    const isNullable =
      [types].flat().includes('null') ||
      kept.length < parts.length ||
      [...bases, ...parts].some((each) => each.isNullable)
    if (kept.length > 1 && kept.every((each) => 'const' in each)) {
      return { schema: { ...typed, oneOf: kept }, isNullable }
    }
    const meant = kept.find((each) => each['type'] === 'string') ?? kept[0]
    return { schema: { ...meant, ...typed }, isNullable }
  }
  const flatten: Flatten = (given) => {
    const flat = flattened(given, 0)
    const json = Buffer.from(JSON.stringify(flat.schema))
    left -= json.length + VALUE_BYTES * inspectJson(json, MAX_BYTES).values
    return left < 0 ? ANYTHING : flat
  }
  return { flatten, isTooLarge: () => left < 0 }
}

/** Whether a flattened schema is that of `null`, whose type was taken away. */
function isNull({ schema, isNullable }: Flat): boolean {
  return schema['const'] === null || (isNullable && !('type' in schema || 'oneOf' in schema))
}

function toField(given: unknown, flatten: Flatten): Field {
  const { schema, isNullable } = flatten(given)
  const { type, default: preset } = schema
  const texts = pick(schema, TEXTS, (value) => typeof value === 'string')
  if (type === 'array') return { ...toList(schema, texts, flatten), isNullable }
  const choices = type === 'boolean' ? undefined : choicesOf(schema)
  if (choices !== undefined) {
    const { titled, restore } = choices
    const presets = preset == null ? {} : { default: textOf(preset) }
    return { schema: { ...texts, ...presets, type: 'string', oneOf: titled }, isNullable, restore }
  }
  const plain = {
    ...texts,
    ...pick(schema, LIMITS, (value) => typeof value === 'number'),
    ...pick(schema, ['format'], (value) => FORMATS.has(value)),
    ...pick(schema, ['default'], (value) => isDefault(value, type ?? 'string')),
    type: type ?? 'string',
  }
  return { schema: plain, isNullable, restore: (value) => value }
}

/** A list of choices, or of free texts, which become one text with commas. */
function toList(schema: Schema, texts: Schema, flatten: Flatten): Omit<Field, 'isNullable'> {
  const { default: preset } = schema
  const items = flatten(schema['items']).schema
  const choices = choicesOf(items)
  if (choices !== undefined) {
    const { titled, restore } = choices
    const presets = Array.isArray(preset) ? { default: preset.map(textOf) } : {}
    const limits = pick(schema, LIMITS, (value) => typeof value === 'number')
    return {
      schema: { ...texts, ...limits, ...presets, type: 'array', items: { anyOf: titled } },
      restore: (values) => (Array.isArray(values) ? values.map(restore) : values),
    }
  }
  const hint = [texts['description'], 'Several are separated by commas.']
  const presets = Array.isArray(preset) ? { default: preset.join(', ') } : {}
  const isNumber = items['type'] === 'integer' || items['type'] === 'number'
  return {
    schema: { ...texts, ...presets, description: hint.filter(Boolean).join(' '), type: 'string' },
    restore: (value) => {
      const words = textOf(value)
        .split(',')
        .flatMap((word) => word.trim() || [])
      return isNumber ? words.map(Number) : words
    },
  }
}

/** The choices of a schema. Their values become texts. */
function choicesOf({ enum: values, enumNames, oneOf, const: only }: Schema): Choices | undefined {
  const names: readonly unknown[] = Array.isArray(enumNames) ? enumNames : []
  const listed = Array.isArray(values) ? values : only === undefined ? undefined : [only]
  const pairs = Array.isArray(oneOf)
    ? oneOf.filter(isObject).map(({ const: value, title }) => ({ value, title }))
    : listed?.map((value: unknown, index) => ({ value, title: names[index] }))
  const given = pairs?.filter(({ value }) => value !== null)
  if (given === undefined) return undefined
  const byText = new Map(given.map(({ value }) => [textOf(value), value]))
  return {
    titled: given.map(({ value, title }) => ({
      const: textOf(value),
      title: typeof title === 'string' ? title : textOf(value),
    })),
    restore: (text) => (byText.has(textOf(text)) ? byText.get(textOf(text)) : text),
  }
}

/** The fields of a schema that are there and fit. */
function pick(
  schema: Schema,
  names: readonly string[],
  isFitting: (value: unknown) => boolean,
): Schema {
  const kept = Object.entries(schema).filter(
    ([name, value]) => names.includes(name) && isFitting(value),
  )
  return Object.fromEntries(kept)
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}
