const OTHER = 'application/octet-stream'

const TYPES: Readonly<Record<string, string>> = {
  'text/plain': 'txt log ini conf env',
  'text/markdown': 'md markdown',
  'text/html': 'html htm',
  'text/css': 'css',
  'text/csv': 'csv',
  'text/tab-separated-values': 'tsv',
  'text/javascript': 'js mjs cjs',
  'text/x-typescript': 'ts mts cts tsx',
  'text/x-python': 'py',
  'text/x-java': 'java',
  'text/x-c': 'c h',
  'text/x-c++': 'cpp hpp',
  'text/x-rust': 'rs',
  'text/x-go': 'go',
  'text/x-ruby': 'rb',
  'text/x-shellscript': 'sh bash',
  'application/json': 'json',
  'application/x-ndjson': 'ndjson jsonl',
  'application/yaml': 'yaml yml',
  'application/toml': 'toml',
  'application/xml': 'xml',
  'application/sql': 'sql',
  'application/pdf': 'pdf',
  'application/zip': 'zip',
  'application/gzip': 'gz',
  'application/x-tar': 'tar',
  'application/wasm': 'wasm',
  'image/png': 'png',
  'image/jpeg': 'jpg jpeg',
  'image/gif': 'gif',
  'image/webp': 'webp',
  'image/svg+xml': 'svg',
  'audio/mpeg': 'mp3',
  'audio/wav': 'wav',
  'video/mp4': 'mp4',
  'font/woff2': 'woff2',
}

const byEnding = new Map(
  Object.entries(TYPES).flatMap(([type, endings]) =>
    endings.split(' ').map((ending) => [ending, type] as const),
  ),
)

/** The MIME type by the ending of a name. */
export function mimeTypeOf(name: string): string {
  const ending = /\.([^.]+)$/.exec(name)?.[1]?.toLowerCase()
  return (ending === undefined ? undefined : byEnding.get(ending)) ?? OTHER
}

/** Whether content of a type may be text. Types without an ending in the table may be either. */
export function mayBeText(mimeType: string): boolean {
  return (
    mimeType === OTHER ||
    !/^(image\/(?!svg)|audio|video|font|application\/(pdf|zip|gzip|x-tar|wasm))/.test(mimeType)
  )
}
