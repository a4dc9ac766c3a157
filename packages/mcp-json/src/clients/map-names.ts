import { shortHash } from '@mcp-host/mcp'
import type { FaultList } from '../document/fault-list.ts'
import { checkServerName, MAX_SERVER_NAME_LENGTH, SERVER_NAME_REMEDY } from './server-name.ts'

export interface NameInFile {
  readonly name: string
  readonly nameOffset: number
  readonly namePath: string
  /** Whether the entry is the built-in server of this name, which may be a reserved one. */
  readonly isBuiltIn: boolean
}

/**
 * The names of servers, in order. An invalid name, such as "GitHub MCP", becomes a valid one, with a warning. The order
 * of the entries has no influence: a client that knows a server by its name must not reach another after an edit.
 */
export function mapNames(
  entries: readonly NameInFile[],
  reservedNames: readonly string[],
  faults: FaultList,
): readonly string[] {
  const wanted = [...entries.map(({ name }) => nearest(name)), ...reservedNames]
  return entries.map(({ name, nameOffset, namePath, isBuiltIn }) => {
    if (isValid(name) && (isBuiltIn || !reservedNames.includes(name))) return name
    const near = nearest(name)
    const isShared = wanted.filter((each) => each === near).length > 1
    const mapped = isShared || !isLike(name, near) ? withHash(near, name) : near
    const reason = isShared ? `, because "${near}" could mean another` : ''
    const message = `is not a valid server name: the server is called "${mapped}"${reason}`
    faults.tolerate(nameOffset, namePath, message, SERVER_NAME_REMEDY)
    return mapped
  })
}

const isValid = (name: string): boolean => checkServerName(name) === undefined

/** The name itself if it is valid; otherwise its letters and digits, without accents. */
function nearest(name: string): string {
  if (isValid(name)) return name
  const near = name
    .normalize('NFKD')
    .replaceAll(/\p{Mark}/gu, '')
    .replaceAll(/[^A-Za-z0-9_-]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
    .slice(0, MAX_SERVER_NAME_LENGTH)
  return isValid(near) ? near : 'server'
}

/** Whether nothing but spaces and signs was replaced. */
function isLike(name: string, near: string): boolean {
  const letters = (text: string): string => text.replaceAll(/[^\p{Letter}\p{Number}]/gu, '')
  return letters(name) === letters(near)
}

function withHash(near: string, name: string): string {
  const ending = `-${shortHash(name)}`
  return near.slice(0, MAX_SERVER_NAME_LENGTH - ending.length) + ending
}
