import type { FaultList } from './fault-list.ts'
import { checkServerName, MAX_SERVER_NAME_LENGTH, SERVER_NAME_REMEDY } from './server-name.ts'

export interface NameInFile {
  readonly name: string
  readonly nameOffset: number
  readonly namePath: string
}

/** The names of servers, in order. An invalid name, such as "GitHub MCP", becomes a valid one, with a warning. */
export function mapNames(
  entries: readonly NameInFile[],
  reservedNames: readonly string[],
  faults: FaultList,
): readonly string[] {
  const taken = new Set([...entries.map(({ name }) => name).filter(isValid), ...reservedNames])
  return entries.map(({ name, nameOffset, namePath }) => {
    if (isValid(name)) return name
    const near = nearest(name)
    let mapped = near
    for (let count = 2; taken.has(mapped); count += 1) mapped = shortened(near, `-${count}`)
    taken.add(mapped)
    const collision = mapped === near ? '' : `, because "${near}" is taken`
    const message = `is not a valid server name: the server is called "${mapped}"${collision}`
    faults.tolerate(nameOffset, namePath, message, SERVER_NAME_REMEDY)
    return mapped
  })
}

const isValid = (name: string): boolean => checkServerName(name) === undefined

function nearest(name: string): string {
  const near = name.replaceAll(/[^A-Za-z0-9_-]+/g, '-').replaceAll(/^-+|-+$/g, '')
  const fitting = shortened(near, '')
  return isValid(fitting) ? fitting : 'server'
}

function shortened(name: string, ending: string): string {
  return name.slice(0, MAX_SERVER_NAME_LENGTH - ending.length) + ending
}
