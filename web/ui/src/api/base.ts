/** The path below which the server is shown, as it writes it into its pages; "" when it is not below any. */
export const base = document.querySelector<HTMLMetaElement>('meta[name="helmtrail-base"]')?.content ?? '';

/** An address of the HTTP API. */
export const address = (...segments: string[]) => `${base}/${segments.map(encodeURIComponent).join('/')}`;

/** The address of a page, of which `path` is what the router knows. */
export const pageAddress = (path: string) => `${base}/helm${path}`;
