export type { SearchableTool } from './tool-index.ts'
export { ToolIndex } from './tool-index.ts'
