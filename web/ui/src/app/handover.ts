/** Copies text to the clipboard. Rejects if the browser forbids it. */
export async function copyText(text: string): Promise<void> {
  // A page loaded over plain HTTP from another machine has no clipboard API.
  if (window.isSecureContext) {
    await navigator.clipboard.writeText(text);
    return;
  }
  const copy = (event: ClipboardEvent) => {
    event.clipboardData?.setData('text/plain', text);
    event.preventDefault();
  };
  document.addEventListener('copy', copy, { once: true });
  // Deprecated, but there is nothing else without a secure context.
  // eslint-disable-next-line @typescript-eslint/no-deprecated
  if (!document.execCommand('copy')) {
    document.removeEventListener('copy', copy);
    throw new Error('the browser did not copy');
  }
}

/** Downloads text as a file. */
export function saveFile(name: string, text: string[]): void {
  const url = URL.createObjectURL(new Blob(text, { type: 'text/plain' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
}
