/** The names between braces in a subject template: `'gen.{generation}.ctl'` → `'generation'`. */
export type SubjectParam<S extends string> = S extends `${string}{${infer P}}${infer Rest}`
  ? P | SubjectParam<Rest>
  : never

export type SubjectParams<S extends string> = { readonly [P in SubjectParam<S>]: string }

/** One token of a subject, without dots, wildcards and white space, which would widen the subject. */
const TOKEN = /^[A-Za-z0-9_-]+$/

interface Token {
  readonly text: string
  /** The name between braces. */
  readonly param: string | undefined
}

/** Parsed templates, cached because every message needs one. */
const cache = new Map<string, readonly Token[]>()

function tokensOf(template: string): readonly Token[] {
  const cached = cache.get(template)
  if (cached !== undefined) return cached
  const tokens = template
    .split('.')
    .map((text) => ({ text, param: text.startsWith('{') ? text.slice(1, -1) : undefined }))
  cache.set(template, tokens)
  return tokens
}

/** The subject with every brace filled. Throws a `TypeError` when a value is not a single token. */
export function fillSubject<S extends string>(template: S, params: SubjectParams<S>): string {
  const values: Readonly<Record<string, string | undefined>> = params
  let subject = ''
  for (const { text, param } of tokensOf(template)) {
    const value = param === undefined ? text : values[param]
    if (value === undefined || (param !== undefined && !TOKEN.test(value))) {
      throw new TypeError(`subject ${template}: ${param} must match ${TOKEN}, not ${value}`)
    }
    subject += subject === '' ? value : `.${value}`
  }
  return subject
}

/** The values of the braces, or `undefined` when the subject is not of this template. */
export function matchSubject<S extends string>(
  template: S,
  subject: string,
): SubjectParams<S> | undefined {
  const tokens = tokensOf(template)
  const values = subject.split('.')
  if (tokens.length !== values.length) return undefined
  const params: Record<string, string> = {}
  for (const [index, { text, param }] of tokens.entries()) {
    const value = values[index] ?? ''
    if (param !== undefined) params[param] = value
    else if (text !== value) return undefined
  }
  return params as SubjectParams<S>
}
