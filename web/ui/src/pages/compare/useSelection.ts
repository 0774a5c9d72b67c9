import { useSearchParams } from 'react-router';
import type { DiffSelection } from '../../api/release';
import { usualLayout, type DiffLayout } from '../../diff/TextDiff';

/** The layouts of a difference. */
export const LAYOUTS = ['split', 'unified'] as const satisfies DiffLayout[];

/** What is compared and how it is shown: the parameters of the URL. Revealing secrets is not among them, so that a link never reveals. */
export interface Selection extends DiffSelection {
  layout: DiffLayout;
}

/** Returns the selection of the URL and a function that changes it. */
export function useSelection(): [Selection, (change: Partial<Selection>) => void] {
  const [search, setSearch] = useSearchParams();
  const number = (name: string) => {
    const value = Number(search.get(name));
    return Number.isInteger(value) && value > 0 ? value : undefined;
  };
  const text = (name: string) => search.get(name) ?? undefined;
  const selection: Selection = {
    from: number('from'),
    to: number('to'),
    fromRelease: text('fromRelease'),
    fromNamespace: text('fromNamespace'),
    fromCluster: text('fromCluster'),
    fromLineage: text('fromLineage'),
    toLineage: text('toLineage'),
    all: search.get('all') === 'true' || undefined,
    layout: LAYOUTS.find((layout) => layout === search.get('layout')) ?? usualLayout(),
  };
  const select = (change: Partial<Selection>) => {
    setSearch(
      (before) => {
        const next = new URLSearchParams(before);
        for (const [name, value] of Object.entries<string | number | boolean | undefined>(change)) {
          if (value === undefined) {
            next.delete(name);
          } else {
            next.set(name, String(value));
          }
        }
        return next;
      },
      { replace: true },
    );
  };
  return [selection, select];
}
