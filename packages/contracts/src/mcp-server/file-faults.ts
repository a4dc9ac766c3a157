import type { CatalogEntry } from './catalog-entry.ts'

/** A changed file of settings that cannot be used. Its previous contents stay in effect. */
export interface FileFault {
  /** The setting that names the file, such as `POLICY_CONFIG`. */
  readonly setting: string
  /** Name of the file, without its folder. */
  readonly file: string
  /** The faults with their places and remedies, one a line. */
  readonly faults: string
}

/** The faulty files of all processes. Processes that find the same faults in a file are named once. */
export function fileFaults(entries: Iterable<CatalogEntry>): FileFault[] {
  const found = new Map<string, FileFault>()
  for (const entry of entries) {
    const fault = faultOf(entry)
    if (fault !== undefined) found.set(JSON.stringify([fault.file, fault.faults]), fault)
  }
  return Array.from(found.values())
}

function faultOf(entry: CatalogEntry): FileFault | undefined {
  if (!('faults' in entry) || entry.faults === undefined || entry.faults === '') return undefined
  const { faults } = entry
  switch (entry.kind) {
    case 'file-fault':
      return { setting: entry.setting, file: entry.file, faults }
    case 'supervisor':
      return { setting: 'MCP_JSON_PATH', file: 'mcp.json', faults }
    case 'model':
      return { setting: 'LLM_CONFIG', file: 'llm.json', faults }
    default:
      return entry satisfies never
  }
}

/** In a sentence for an operator. */
export function describeFileFault({ file, faults }: FileFault): string {
  return `${file} is not taken over, and its contents before stay in effect: ${faults}`
}
