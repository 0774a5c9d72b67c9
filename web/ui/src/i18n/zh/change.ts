import type { change as english } from '../en/change';
import type { Translation } from '../translation';

export const change: Translation<typeof english> = {
  title: '升级或回滚 {{name}}',
  here: '升级或回滚',
  upgrade: '升级',
  rollback: '回滚',
  rollbackOverride: '仍然回滚',
  values: '自定义值 (YAML)，以 Revision {{revision}} 为基础',
  againstLive: '与 Revision {{revision}} 比较',
  difference: {
    label: '值的变化',
    revision: '与 Revision {{revision}} 比较',
    defaults: '与 Chart 默认值比较',
    none: '没有变化。',
    unreadable: '自定义值不是有效的 YAML。',
  },
  reference: '关于该 Chart',
  noValues: '无法读取 Revision {{revision}} 的值',
  changed: '该 Release 现在的 Revision 是 {{revision}}',
  nothingEarlier: '没有可回滚的更早 Revision。',
  goBackTo: '回滚到',
  revision: 'Revision',
  wouldChange: '变化',
};
