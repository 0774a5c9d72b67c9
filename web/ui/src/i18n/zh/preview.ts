import type { preview as english } from '../en/preview';
import type { Translation } from '../translation';

export const preview: Translation<typeof english> = {
  button: '预览',
  title: '预览',
  running: '正在渲染 Chart',
  stale: '此预览生成后，表单已更改。',
  failed: 'Helm 无法渲染 Chart',
  objects_other: '试运行：{{count}} 个对象。未做任何更改。',
  validating: '正在进行服务器端试运行',
  valid: '服务器端试运行通过',
  uncertain: '部分对象无法检查',
  refused_other: '服务器端试运行：{{count}} 个对象被拒绝',
  verdicts: {
    create: '创建',
    change: '更新',
    unchanged: '不变',
    refused: '被拒绝',
    unknown: '未检查',
  },
  changesOf: '{{title}} 的变化',
  hook: 'Hook',
  hidden: '已隐藏',
  hiddenHelp: 'Helm 在试运行时不显示 Secret。此 Secret 来自 {{source}}。',
  notes: '说明',
};
