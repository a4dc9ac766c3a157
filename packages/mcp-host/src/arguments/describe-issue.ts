import type { ErrorObject } from 'ajv'

import type { ArgumentIssue } from '../errors/validation-error.ts'

/** Says what a schema asks of one argument. Never repeats the value, which may be a secret. */
export function describeIssue({
  instancePath,
  keyword,
  params,
  message,
}: ErrorObject): ArgumentIssue {
  const argument = toArgument(instancePath)
  const { missingProperty, additionalProperty, unevaluatedProperty, allowedValues } = params
  const surplus: unknown = additionalProperty ?? unevaluatedProperty
  if (keyword === 'required') {
    return { argument: join(argument, String(missingProperty)), expected: 'is required' }
  }
  if (typeof surplus === 'string') {
    return { argument: join(argument, surplus), expected: 'is not a known argument' }
  }
  if (Array.isArray(allowedValues)) {
    const values = allowedValues.map((value) => JSON.stringify(value)).join(', ')
    return { argument, expected: `must be one of ${values}` }
  }
  if (keyword === 'const') {
    return { argument, expected: `must be ${JSON.stringify(params['allowedValue'])}` }
  }
  return { argument, expected: message ?? `must satisfy "${keyword}"` }
}

/** From a JSON pointer, `/tags/0`, to how people write it, `tags[0]`. */
function toArgument(pointer: string): string {
  return pointer
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce((path, step) => (/^\d+$/.test(step) ? `${path}[${step}]` : join(path, step)), '')
}

function join(path: string, step: string): string {
  return path === '' ? step : `${path}.${step}`
}
