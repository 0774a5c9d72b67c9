/** The server's base path, which it writes into its pages; "" for none. */
export const base = document.querySelector<HTMLMetaElement>('meta[name="helmtrail-base"]')?.content ?? '';

/** Returns a path of the HTTP API. */
export const address = (...segments: string[]) => `${base}/${segments.map(encodeURIComponent).join('/')}`;

/** Returns the full path of a page for a path of the router. */
export const pageAddress = (path: string) => `${base}/helm${path}`;
