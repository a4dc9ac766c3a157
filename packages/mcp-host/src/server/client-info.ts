/** How the host introduces itself to servers; the version is that of the package. */
export const CLIENT_INFO = { name: 'mcp-host', version: '0.1.0' }
