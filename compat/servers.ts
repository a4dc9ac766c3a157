/** A published MCP server that starts and lists what it has without network or a real key. */
export interface RealServer {
  /** Name in `mcp.json` and after `--only`. */
  readonly name: string
  readonly package: string
  readonly version: string
  /** The program of the package, where it has several. */
  readonly bin?: string
  /** `{folder}` in any of these is the server's working folder. */
  readonly args?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  /** Files of its working folder, with their text. */
  readonly files?: Readonly<Record<string, string>>
  /** Calls that change nothing and need no network. */
  readonly calls?: readonly SafeCall[]
}

export interface SafeCall {
  readonly tool: string
  readonly arguments?: Readonly<Record<string, unknown>>
}

const KEY = 'compat-dummy-key'
/** Nothing listens there: a server that wants its service is refused at once. */
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

export const SERVERS: readonly RealServer[] = [
  {
    name: 'angular',
    package: '@angular/cli',
    version: '22.2.7',
    args: ['mcp'],
    calls: [{ tool: 'get_best_practices' }],
  },
  { name: 'antv-chart', package: '@antv/mcp-server-chart', version: '0.9.10' },
  {
    name: 'brave-search',
    package: '@brave/brave-search-mcp-server',
    version: '2.1.4',
    env: { BRAVE_API_KEY: KEY },
  },
  {
    name: 'circleci',
    package: '@circleci/mcp-server-circleci',
    version: '0.20.0',
    env: { CIRCLECI_TOKEN: KEY, CIRCLECI_BASE_URL: NOWHERE },
    calls: [{ tool: 'list_followed_projects', arguments: {} }],
  },
  {
    name: 'git',
    package: '@cyanheads/git-mcp-server',
    version: '2.15.3',
    env: { MCP_LOG_LEVEL: 'error' },
    calls: [{ tool: 'git_status', arguments: { path: '{folder}' } }],
  },
  {
    name: 'drawio',
    package: '@drawio/mcp',
    version: '1.6.1',
    calls: [{ tool: 'search_shapes', arguments: { query: 'database' } }],
  },
  {
    name: 'elasticsearch',
    package: '@elastic/mcp-server-elasticsearch',
    version: '0.3.1',
    env: { ES_URL: NOWHERE, ES_API_KEY: KEY },
    calls: [{ tool: 'list_indices', arguments: { indexPattern: '*' } }],
  },
  {
    name: 'eslint',
    package: '@eslint/mcp',
    version: '0.3.13',
    calls: [{ tool: 'lint-files', arguments: { filePaths: ['{folder}/code.js'] } }],
    files: { 'code.js': 'let unused = 1' },
  },
  {
    name: 'executeautomation-playwright',
    package: '@executeautomation/playwright-mcp-server',
    version: '1.0.12',
  },
  {
    name: 'hubspot',
    package: '@hubspot/mcp-server',
    version: '0.4.0',
    env: { PRIVATE_APP_ACCESS_TOKEN: KEY },
  },
  {
    name: 'openapi',
    package: '@ivotoby/openapi-mcp-server',
    version: '1.16.1',
    args: ['--openapi-spec', '{folder}/openapi.json', '--api-base-url', NOWHERE],
    files: { 'openapi.json': PETS },
    calls: [{ tool: 'get-pet', arguments: { id: 1 } }],
  },
  {
    name: 'knip',
    package: '@knip/mcp',
    version: '0.0.36',
    calls: [{ tool: 'knip-docs', arguments: { topic: 'configuration' } }],
  },
  {
    name: 'launchdarkly',
    package: '@launchdarkly/mcp-server',
    version: '0.6.2',
    args: ['start', '--api-key', KEY],
  },
  {
    name: 'mapbox',
    package: '@mapbox/mcp-server',
    version: '0.14.0',
    env: { MAPBOX_ACCESS_TOKEN: 'pk.eyJzdWIiOiJ0ZXN0IiwidSI6InRlc3QifQ.c2lnbmF0dXJl' },
  },
  {
    name: 'mastra-docs',
    package: '@mastra/mcp-docs-server',
    version: '1.2.27',
    calls: [{ tool: 'listMastraPackages', arguments: { projectPath: '{folder}' } }],
  },
  { name: 'mobile', package: '@mobilenext/mobile-mcp', version: '1.0.4' },
  {
    name: 'basic-vanillajs',
    package: '@modelcontextprotocol/server-basic-vanillajs',
    version: '2.0.3',
    args: ['--stdio'],
  },
  {
    name: 'budget-allocator',
    package: '@modelcontextprotocol/server-budget-allocator',
    version: '2.0.3',
    args: ['--stdio'],
    calls: [{ tool: 'get-budget-data' }],
  },
  {
    name: 'everything',
    package: '@modelcontextprotocol/server-everything',
    version: '2026.8.31',
    calls: [
      { tool: 'echo', arguments: { message: 'hi' } },
      { tool: 'get-sum', arguments: { a: 2, b: 3 } },
      { tool: 'get-structured-content', arguments: { location: 'New York' } },
      { tool: 'get-tiny-image' },
      { tool: 'get-annotated-message', arguments: { messageType: 'error', includeImage: true } },

      { tool: 'get-sum', arguments: { a: 'two', b: 3 } },
    ],
  },
  {
    name: 'filesystem',
    package: '@modelcontextprotocol/server-filesystem',
    version: '2026.8.31',
    args: ['{folder}'],
    calls: [
      { tool: 'list_directory', arguments: { path: '{folder}' } },
      { tool: 'read_text_file', arguments: { path: '{folder}/hello.txt' } },
      { tool: 'read_text_file', arguments: { path: '{folder}/missing.txt' } },
    ],
    files: { 'hello.txt': 'hello' },
  },
  {
    name: 'github',
    package: '@modelcontextprotocol/server-github',
    version: '2025.4.8',
    env: { GITHUB_PERSONAL_ACCESS_TOKEN: KEY },
  },
  {
    name: 'gitlab',
    package: '@modelcontextprotocol/server-gitlab',
    version: '2025.4.25',
    env: { GITLAB_PERSONAL_ACCESS_TOKEN: KEY },
  },
  {
    name: 'google-maps',
    package: '@modelcontextprotocol/server-google-maps',
    version: '0.6.2',
    env: { GOOGLE_MAPS_API_KEY: KEY },
  },
  {
    name: 'memory',
    package: '@modelcontextprotocol/server-memory',
    version: '2026.8.31',
    env: { MEMORY_FILE_PATH: '{folder}/memory.json' },
    calls: [{ tool: 'read_graph' }],
  },
  {
    name: 'pdf',
    package: '@modelcontextprotocol/server-pdf',
    version: '2.0.4',
    args: ['--stdio'],
    calls: [{ tool: 'list_pdfs' }],
  },
  {
    name: 'postgres',
    package: '@modelcontextprotocol/server-postgres',
    version: '0.6.2',
    args: ['postgresql://127.0.0.1:1/none'],
    calls: [{ tool: 'query', arguments: { sql: 'select 1' } }],
  },
  {
    name: 'sequential-thinking',
    package: '@modelcontextprotocol/server-sequential-thinking',
    version: '2026.8.31',
  },
  {
    name: 'slack',
    package: '@modelcontextprotocol/server-slack',
    version: '2025.4.25',
    env: { SLACK_BOT_TOKEN: KEY, SLACK_TEAM_ID: 'T1' },
  },
  {
    name: 'system-monitor',
    package: '@modelcontextprotocol/server-system-monitor',
    version: '2.0.3',
    args: ['--stdio'],
  },
  { name: 'mui', package: '@mui/mcp', version: '0.1.6' },
  {
    name: 'notion',
    package: '@notionhq/notion-mcp-server',
    version: '2.5.2',
    env: { NOTION_TOKEN: KEY },
  },
  { name: 'airbnb', package: '@openbnb/mcp-server-airbnb', version: '0.3.0' },
  {
    name: 'perplexity',
    package: '@perplexity-ai/mcp-server',
    version: '1.2.1',
    env: { PERPLEXITY_API_KEY: KEY },
  },
  {
    name: 'pinecone',
    package: '@pinecone-database/mcp',
    version: '0.3.0',
    env: { PINECONE_API_KEY: KEY },
  },
  { name: 'playwright', package: '@playwright/mcp', version: '0.0.83' },
  {
    name: 'postman',
    package: '@postman/postman-mcp-server',
    version: '2.13.0',
    args: ['--full'],
    env: { POSTMAN_API_KEY: KEY },
  },
  {
    name: 'asana',
    package: '@roychri/mcp-server-asana',
    version: '1.8.0',
    env: { ASANA_ACCESS_TOKEN: KEY },
  },
  {
    name: 'sentry',
    package: '@sentry/mcp-server',
    version: '0.39.0',
    args: ['--access-token', KEY],
  },
  {
    name: 'shortcut',
    package: '@shortcut/mcp',
    version: '0.25.0',
    env: { SHORTCUT_API_TOKEN: KEY },
  },
  { name: 'ms-365', package: '@softeria/ms-365-mcp-server', version: '0.155.0' },
  { name: 'context7', package: '@upstash/context7-mcp', version: '4.1.1' },
  {
    name: 'datadog',
    package: '@winor30/mcp-server-datadog',
    version: '1.8.0',
    env: { DATADOG_API_KEY: KEY, DATADOG_APP_KEY: KEY },
  },
  {
    name: 'desktop-commander',
    package: '@wonderwhy-er/desktop-commander',
    version: '0.2.52',
    calls: [{ tool: 'read_file', arguments: { path: '{folder}/hello.txt' } }],
    files: { 'hello.txt': 'hello' },
  },
  {
    name: 'zereight-gitlab',
    package: '@zereight/mcp-gitlab',
    version: '2.1.64',
    env: { GITLAB_PERSONAL_ACCESS_TOKEN: KEY, GITLAB_API_URL: NOWHERE },
    calls: [{ tool: 'get_project', arguments: { project_id: '1' } }],
  },
  {
    name: 'airtable',
    package: 'airtable-mcp-server',
    version: '1.14.0',
    env: { AIRTABLE_API_KEY: KEY },
  },
  {
    name: 'argocd',
    package: 'argocd-mcp',
    version: '0.9.0',
    args: ['stdio'],
    env: { ARGOCD_BASE_URL: NOWHERE, ARGOCD_API_TOKEN: KEY },
    calls: [{ tool: 'list_applications' }],
  },
  { name: 'chrome-devtools', package: 'chrome-devtools-mcp', version: '1.11.0' },
  { name: 'exa', package: 'exa-mcp-server', version: '3.4.1', env: { EXA_API_KEY: KEY } },
  {
    name: 'figma',
    package: 'figma-developer-mcp',
    version: '0.13.2',
    args: ['--stdio', `--figma-api-key=${KEY}`],
  },
  {
    name: 'firecrawl',
    package: 'firecrawl-mcp',
    version: '3.26.0',
    env: { FIRECRAWL_API_KEY: KEY },
  },
  { name: 'hostinger', package: 'hostinger-api-mcp', version: '1.63.2', env: { API_TOKEN: KEY } },
  { name: 'howtocook', package: 'howtocook-mcp', version: '0.2.2' },
  {
    name: 'hello-world',
    package: 'mcp-hello-world',
    version: '1.1.2',
    calls: [{ tool: 'echo', arguments: { message: 'hi' } }],
  },
  {
    name: 'mermaid',
    package: 'mcp-mermaid',
    version: '0.4.1',
    calls: [
      {
        tool: 'generate_mermaid_diagram',
        arguments: { mermaid: 'graph TD; A-->B', outputType: 'mermaid' },
      },
    ],
  },
  {
    name: 'searxng',
    package: 'mcp-searxng',
    version: '2.4.0',
    env: { SEARXNG_URL: NOWHERE },
    calls: [{ tool: 'searxng_web_search', arguments: { query: 'mcp' } }],
  },
  {
    name: 'code-runner',
    package: 'mcp-server-code-runner',
    version: '0.1.8',
    calls: [
      { tool: 'run-code', arguments: { code: 'console.log(6 * 7)', languageId: 'javascript' } },
    ],
  },
  { name: 'kubernetes', package: 'mcp-server-kubernetes', version: '4.1.7' },
  {
    name: 'mongodb',
    package: 'mongodb-mcp-server',
    version: '3.0.4',
    args: ['--connectionString', 'mongodb://127.0.0.1:1'],
  },
  {
    name: 'n8n',
    package: 'n8n-mcp',
    version: '2.87.0',
    env: { MCP_MODE: 'stdio', LOG_LEVEL: 'error', DISABLE_CONSOLE_OUTPUT: 'true' },
    calls: [
      { tool: 'tools_documentation' },
      { tool: 'search_nodes', arguments: { query: 'webhook' } },
    ],
  },
  { name: 'next-devtools', package: 'next-devtools-mcp', version: '0.4.0' },
  { name: 'tavily', package: 'tavily-mcp', version: '0.2.22', env: { TAVILY_API_KEY: KEY } },
]
