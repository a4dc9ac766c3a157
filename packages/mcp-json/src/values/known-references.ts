import { homedir } from 'node:os'
import { basename, dirname, sep } from 'node:path'

import type { Node } from 'jsonc-parser'

import type { Environment } from '@mcp-host/process'
import { declaredInputs } from './find-inputs.ts'

/** Folders of a workspace with the configuration of a client. */
const CLIENT_FOLDERS = ['.vscode', '.cursor', '.gemini', '.kiro', '.roo', '.windsurf']

/** The workspace folder of a file: its folder, or the parent of a client's folder. */
export function folderOf(file: string | undefined, isStrict: boolean): string {
  if (file === undefined) return '.'
  const folder = dirname(file)
  return !isStrict && CLIENT_FOLDERS.includes(basename(folder)) ? dirname(folder) : folder
}

/** The user's home folder. */
export function homeOf({ HOME, USERPROFILE }: Environment): string {
  return HOME ?? USERPROFILE ?? homedir()
}

/** Values of VS Code's and Cursor's predefined references, by the whole reference. */
export function knownReferences(
  workspaceFolder: string,
  home: string,
  root: Node,
  inputs: Readonly<Record<string, string>>,
): ReadonlyMap<string, string> {
  const values = new Map(Object.entries(inputs))
  for (const { id, default: preset } of declaredInputs(root).values()) {
    if (preset !== undefined && !values.has(id)) values.set(id, preset)
  }
  return new Map([
    ['${workspaceFolder}', workspaceFolder],
    ['${workspaceFolderBasename}', basename(workspaceFolder)],
    ['${userHome}', home],
    ['${pathSeparator}', sep],
    ['${/}', sep],
    ...Array.from(values, ([id, value]): [string, string] => [`\${input:${id}}`, value]),
  ])
}
