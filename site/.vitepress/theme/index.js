import Theme from 'vitepress/theme-without-fonts'
import { Diagram } from './diagram.js'
import './style.css'

export default { extends: Theme, enhanceApp: ({ app }) => app.component('Diagram', Diagram) }
