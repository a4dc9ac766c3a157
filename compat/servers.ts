/** A published MCP server that starts and can be listed without network access or a real key. */
export interface RealServer {
  /** Name in `mcp.json` and for `--only`. */
  readonly name: string
  readonly package: string
  readonly version: string
  /** The program to start, of a package with several. */
  readonly bin?: string
  /** Arguments. Here and below, `{folder}` stands for the working folder of the server. */
  readonly args?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  /** Files in the working folder, with their text. */
  readonly files?: Readonly<Record<string, string>>
  /** Calls that have no side effects and need no network access. */
  readonly calls?: readonly SafeCall[]
}

export interface SafeCall {
  readonly tool: string
  readonly arguments?: Readonly<Record<string, unknown>>
}

const KEY = 'compat-dummy-key'
/** Nothing listens there, so connections are refused at once. */
const NOWHERE = 'http://127.0.0.1:1'

const PETS = JSON.stringify({
  openapi: '3.0.0',
  info: { title: 'Pets', version: '1.0.0' },
  paths: {
    '/pets/{id}': {
      get: {
        operationId: 'getPet',
        summary: 'One pet',
        parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'integer' } }],
        responses: { 200: { description: 'The pet' } },
      },
    },
  },
})

/** Pins a package of npm to a version. */
function server(
  name: string,
  spec: `${string}@${string}`,
  more: Omit<RealServer, 'name' | 'package' | 'version'> = {},
): RealServer {
  const at = spec.lastIndexOf('@')
  return { name, package: spec.slice(0, at), version: spec.slice(at + 1), ...more }
}

export const SERVERS: readonly RealServer[] = [
  server('angular', '@angular/cli@22.2.7', {
    args: ['mcp'],
    calls: [{ tool: 'get_best_practices' }],
  }),
  server('antv-chart', '@antv/mcp-server-chart@0.9.10'),
  server('brave-search', '@brave/brave-search-mcp-server@2.1.4', { env: { BRAVE_API_KEY: KEY } }),
  server('circleci', '@circleci/mcp-server-circleci@0.20.0', {
    env: { CIRCLECI_TOKEN: KEY, CIRCLECI_BASE_URL: NOWHERE },
    calls: [{ tool: 'list_followed_projects', arguments: {} }],
  }),
  server('git', '@cyanheads/git-mcp-server@2.15.3', {
    env: { MCP_LOG_LEVEL: 'error' },
    calls: [{ tool: 'git_status', arguments: { path: '{folder}' } }],
  }),
  server('drawio', '@drawio/mcp@1.6.1', {
    calls: [{ tool: 'search_shapes', arguments: { query: 'database' } }],
  }),
  server('elasticsearch', '@elastic/mcp-server-elasticsearch@0.3.1', {
    env: { ES_URL: NOWHERE, ES_API_KEY: KEY },
    calls: [{ tool: 'list_indices', arguments: { indexPattern: '*' } }],
  }),
  server('eslint', '@eslint/mcp@0.3.13', {
    calls: [{ tool: 'lint-files', arguments: { filePaths: ['{folder}/code.js'] } }],
    files: { 'code.js': 'let unused = 1' },
  }),
  server('executeautomation-playwright', '@executeautomation/playwright-mcp-server@1.0.12'),
  server('hubspot', '@hubspot/mcp-server@0.4.0', { env: { PRIVATE_APP_ACCESS_TOKEN: KEY } }),
  server('openapi', '@ivotoby/openapi-mcp-server@1.16.1', {
    args: ['--openapi-spec', '{folder}/openapi.json', '--api-base-url', NOWHERE],
    files: { 'openapi.json': PETS },
    calls: [{ tool: 'get-pet', arguments: { id: 1 } }],
  }),
  server('knip', '@knip/mcp@0.0.36', {
    calls: [{ tool: 'knip-docs', arguments: { topic: 'configuration' } }],
  }),
  server('launchdarkly', '@launchdarkly/mcp-server@0.6.2', { args: ['start', '--api-key', KEY] }),
  server('mapbox', '@mapbox/mcp-server@0.14.0', {
    env: { MAPBOX_ACCESS_TOKEN: 'pk.eyJzdWIiOiJ0ZXN0IiwidSI6InRlc3QifQ.c2lnbmF0dXJl' },
  }),
  server('mastra-docs', '@mastra/mcp-docs-server@1.2.27', {
    calls: [{ tool: 'listMastraPackages', arguments: { projectPath: '{folder}' } }],
  }),
  server('mobile', '@mobilenext/mobile-mcp@1.0.4'),
  server('basic-vanillajs', '@modelcontextprotocol/server-basic-vanillajs@2.0.3', {
    args: ['--stdio'],
  }),
  server('budget-allocator', '@modelcontextprotocol/server-budget-allocator@2.0.3', {
    args: ['--stdio'],
    calls: [{ tool: 'get-budget-data' }],
  }),
  server('everything', '@modelcontextprotocol/server-everything@2026.8.31', {
    calls: [
      { tool: 'echo', arguments: { message: 'hi' } },
      { tool: 'get-sum', arguments: { a: 2, b: 3 } },
      { tool: 'get-structured-content', arguments: { location: 'New York' } },
      { tool: 'get-tiny-image' },
      { tool: 'get-annotated-message', arguments: { messageType: 'error', includeImage: true } },
      { tool: 'get-sum', arguments: { a: 'two', b: 3 } },
    ],
  }),
  server('filesystem', '@modelcontextprotocol/server-filesystem@2026.8.31', {
    args: ['{folder}'],
    calls: [
      { tool: 'list_directory', arguments: { path: '{folder}' } },
      { tool: 'read_text_file', arguments: { path: '{folder}/hello.txt' } },
      { tool: 'read_text_file', arguments: { path: '{folder}/missing.txt' } },
    ],
    files: { 'hello.txt': 'hello' },
  }),
  server('github', '@modelcontextprotocol/server-github@2025.4.8', {
    env: { GITHUB_PERSONAL_ACCESS_TOKEN: KEY },
  }),
  server('gitlab', '@modelcontextprotocol/server-gitlab@2025.4.25', {
    env: { GITLAB_PERSONAL_ACCESS_TOKEN: KEY },
  }),
  server('google-maps', '@modelcontextprotocol/server-google-maps@0.6.2', {
    env: { GOOGLE_MAPS_API_KEY: KEY },
  }),
  server('memory', '@modelcontextprotocol/server-memory@2026.8.31', {
    env: { MEMORY_FILE_PATH: '{folder}/memory.json' },
    calls: [{ tool: 'read_graph' }],
  }),
  server('pdf', '@modelcontextprotocol/server-pdf@2.0.4', {
    args: ['--stdio'],
    calls: [{ tool: 'list_pdfs' }],
  }),
  server('postgres', '@modelcontextprotocol/server-postgres@0.6.2', {
    args: ['postgresql://127.0.0.1:1/none'],
    calls: [{ tool: 'query', arguments: { sql: 'select 1' } }],
  }),
  server('sequential-thinking', '@modelcontextprotocol/server-sequential-thinking@2026.8.31'),
  server('slack', '@modelcontextprotocol/server-slack@2025.4.25', {
    env: { SLACK_BOT_TOKEN: KEY, SLACK_TEAM_ID: 'T1' },
  }),
  server('system-monitor', '@modelcontextprotocol/server-system-monitor@2.0.3', {
    args: ['--stdio'],
  }),
  server('mui', '@mui/mcp@0.1.6'),
  server('notion', '@notionhq/notion-mcp-server@2.5.2', { env: { NOTION_TOKEN: KEY } }),
  server('airbnb', '@openbnb/mcp-server-airbnb@0.3.0'),
  server('perplexity', '@perplexity-ai/mcp-server@1.2.1', { env: { PERPLEXITY_API_KEY: KEY } }),
  server('pinecone', '@pinecone-database/mcp@0.3.0', { env: { PINECONE_API_KEY: KEY } }),
  server('playwright', '@playwright/mcp@0.0.83'),
  server('postman', '@postman/postman-mcp-server@2.13.0', {
    args: ['--full'],
    env: { POSTMAN_API_KEY: KEY },
  }),
  server('asana', '@roychri/mcp-server-asana@1.8.0', { env: { ASANA_ACCESS_TOKEN: KEY } }),
  server('sentry', '@sentry/mcp-server@0.39.0', { args: ['--access-token', KEY] }),
  server('shortcut', '@shortcut/mcp@0.25.0', { env: { SHORTCUT_API_TOKEN: KEY } }),
  server('ms-365', '@softeria/ms-365-mcp-server@0.155.0'),
  server('context7', '@upstash/context7-mcp@4.1.1'),
  server('datadog', '@winor30/mcp-server-datadog@1.8.0', {
    env: { DATADOG_API_KEY: KEY, DATADOG_APP_KEY: KEY },
  }),
  server('desktop-commander', '@wonderwhy-er/desktop-commander@0.2.52', {
    calls: [{ tool: 'read_file', arguments: { path: '{folder}/hello.txt' } }],
    files: { 'hello.txt': 'hello' },
  }),
  server('zereight-gitlab', '@zereight/mcp-gitlab@2.1.64', {
    env: { GITLAB_PERSONAL_ACCESS_TOKEN: KEY, GITLAB_API_URL: NOWHERE },
    calls: [{ tool: 'get_project', arguments: { project_id: '1' } }],
  }),
  server('airtable', 'airtable-mcp-server@1.14.0', { env: { AIRTABLE_API_KEY: KEY } }),
  server('argocd', 'argocd-mcp@0.9.0', {
    args: ['stdio'],
    env: { ARGOCD_BASE_URL: NOWHERE, ARGOCD_API_TOKEN: KEY },
    calls: [{ tool: 'list_applications' }],
  }),
  server('chrome-devtools', 'chrome-devtools-mcp@1.11.0'),
  server('exa', 'exa-mcp-server@3.4.1', { env: { EXA_API_KEY: KEY } }),
  server('figma', 'figma-developer-mcp@0.13.2', { args: ['--stdio', `--figma-api-key=${KEY}`] }),
  server('firecrawl', 'firecrawl-mcp@3.26.0', { env: { FIRECRAWL_API_KEY: KEY } }),
  server('hostinger', 'hostinger-api-mcp@1.63.2', { env: { API_TOKEN: KEY } }),
  server('howtocook', 'howtocook-mcp@0.2.2'),
  server('hello-world', 'mcp-hello-world@1.1.2', {
    calls: [{ tool: 'echo', arguments: { message: 'hi' } }],
  }),
  server('mermaid', 'mcp-mermaid@0.4.1', {
    calls: [
      {
        tool: 'generate_mermaid_diagram',
        arguments: { mermaid: 'graph TD; A-->B', outputType: 'mermaid' },
      },
    ],
  }),
  server('searxng', 'mcp-searxng@2.4.0', {
    env: { SEARXNG_URL: NOWHERE },
    calls: [{ tool: 'searxng_web_search', arguments: { query: 'mcp' } }],
  }),
  server('code-runner', 'mcp-server-code-runner@0.1.8', {
    calls: [
      { tool: 'run-code', arguments: { code: 'console.log(6 * 7)', languageId: 'javascript' } },
    ],
  }),
  server('kubernetes', 'mcp-server-kubernetes@4.1.7'),
  server('mongodb', 'mongodb-mcp-server@3.0.4', {
    args: ['--connectionString', 'mongodb://127.0.0.1:1'],
  }),
  server('n8n', 'n8n-mcp@2.87.0', {
    env: { MCP_MODE: 'stdio', LOG_LEVEL: 'error', DISABLE_CONSOLE_OUTPUT: 'true' },
    calls: [
      { tool: 'tools_documentation' },
      { tool: 'search_nodes', arguments: { query: 'webhook' } },
    ],
  }),
  server('next-devtools', 'next-devtools-mcp@0.4.0'),
  server('tavily', 'tavily-mcp@0.2.22', { env: { TAVILY_API_KEY: KEY } }),
]
