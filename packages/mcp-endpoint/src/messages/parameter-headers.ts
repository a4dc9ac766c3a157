import type { ParameterHeader } from '@mcp-host/mcp'
import { parameterText } from '@mcp-host/mcp'
import { decodeHeader, mismatch } from './classify.ts'
import type { Params } from './json-rpc.ts'
import { isObject } from '@mcp-host/json'

/** Throws `JsonRpcError` when headers of a call that repeat arguments differ from them. */
export function checkParameters(
  declared: readonly ParameterHeader[],
  { arguments: given }: Params,
  header: (name: string) => string | undefined,
): void {
  const args = isObject(given) ? given : {}
  for (const parameter of declared) {
    const name = `Mcp-Param-${parameter.name}`
    const value = header(name.toLowerCase())
    const said = value === undefined ? undefined : decodeHeader(value)
    if (value !== undefined && said === undefined) {
      throw mismatch(`the ${name} header is no valid Base64`)
    }
    const meant = parameterText(parameter, args)
    if (said === meant) continue
    const argument = parameter.path.join('.')
    if (said === undefined) {
      throw mismatch(`the ${name} header, which repeats the argument "${argument}", is missing`)
    }
    throw mismatch(`the ${name} header differs from the argument "${argument}"`)
  }
}
