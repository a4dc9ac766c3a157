export type { SearchableTool } from './tool-index.ts'
export { MAX_QUERY_LENGTH, ToolIndex } from './tool-index.ts'
